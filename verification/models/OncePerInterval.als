/*
 * A method with a fixed rate or delay and once = AUTO: who asks for the lock of the interval takes it exclusively to run, keeps
 * it shared until nine tenths of the interval are over, and learns from the lock of others whether to run. The statement that
 * asks has four steps, and others ask in between.
 *
 * ask        jdbc.PostgresAdvisoryLockFunctions.tryTick
 *            IntervalLocksTests.nobodyRunsUntilNineTenthsAreOver
 * askShared  jdbc.PostgresAdvisoryLockFunctions.tryTick
 *            IntervalLocksTests.runThatTakesLongerThanItsIntervalIsBusyAndFollowedAtOnce
 * letGo      jdbc.PostgresAdvisoryLockFunctions.tryTick
 *            OnceIntervalTests.beginsOfThreeInstancesAreAnIntervalApart
 * askAgain   jdbc.PostgresAdvisoryLockFunctions.tryTick
 *            OnceIntervalTests.beginsOfThreeInstancesAreAnIntervalApart
 * end        jdbc.LockSession.share
 *            IntervalLocksTests.rateIsCountedFromTheBeginOfTheRunAndDelayFromItsEnd
 * fail       jdbc.LockSession.forget
 *            IntervalLocksTests.runThatFailsIsNotRemembered
 * pass       environment
 *            IntervalLocksTests.nobodyRunsUntilNineTenthsAreOver
 * forget     jdbc.LockSession.forget
 *            IntervalLocksTests.nobodyRunsUntilNineTenthsAreOver
 * kill       environment
 *            IntervalLocksTests.intervalEndsWithTheInstanceThatRemembersIt
 */
module OncePerInterval

abstract sig Step {}
one sig NotExclusive, Shared, LetGo extends Step {}

sig Instance {
	-- how far the statement that asks has come
	var step: lone Step
}

-- Who has the lock exclusively, who has it shared, and who of these remembers a run
var sig Runs, Sharing, Remembers in Instance {}

-- Who has asked when nobody ran or remembered a run, and nobody has begun to run since
var sig Wanted in Instance {}

one sig Interval {}

-- The interval of a run that goes on or is remembered, until nine tenths of it are over; and one in which another run began
var sig Young, Doubled in Interval {}

-- The mutants: the lock ends with the run; who finds the lock shared does not ask again
abstract sig Mutant {}
lone sig LockOnly, AsksOnce extends Mutant {}

fact init {
	no step
	no Runs + Sharing + Remembers + Wanted
	no Young + Doubled
}

pred take [i: Instance] {
	Runs' = Runs + i
	Doubled' = Doubled + Young
	Young' = Interval
	step' = step - i->Step
	no Wanted'
	Sharing' = Sharing
	Remembers' = Remembers
}

pred lockAsItWas {
	Runs' = Runs
	Remembers' = Remembers
	timeAsItWas
}

pred timeAsItWas {
	Young' = Young
	Doubled' = Doubled
}

-- Who remembers a run itself, or runs, does not ask
pred ask [i: Instance] {
	no i.step
	i not in Runs + Remembers
	(no Runs + Sharing) => take[i] else {
		step' = step + i->NotExclusive
		Wanted' = ((no Runs + Remembers) => Wanted + i else Wanted)
		Sharing' = Sharing
		lockAsItWas
	}
}

pred askShared [i: Instance] {
	i.step = NotExclusive
	step' = step - i->Step + (some Runs => none->none else i->Shared)
	Sharing' = (some Runs => Sharing else Sharing + i)
	Wanted' = Wanted
	lockAsItWas
}

pred letGo [i: Instance] {
	i.step = Shared
	step' = step - i->Step + (some AsksOnce => none->none else i->LetGo)
	Sharing' = Sharing - i
	Wanted' = Wanted
	lockAsItWas
}

pred askAgain [i: Instance] {
	i.step = LetGo
	(no Runs + Sharing) => take[i] else {
		step' = step - i->Step
		Wanted' = Wanted
		Sharing' = Sharing
		lockAsItWas
	}
}

-- A good end: what is over is not remembered
pred end [i: Instance] {
	i in Runs
	Runs' = Runs - i
	Remembers' = ((no Young or some LockOnly) => Remembers else Remembers + i)
	Sharing' = ((no Young or some LockOnly) => Sharing else Sharing + i)
	step' = step
	Wanted' = Wanted
	timeAsItWas
}

pred fail [i: Instance] {
	i in Runs
	Runs' = Runs - i
	no Young'
	Remembers' = Remembers
	Sharing' = Sharing
	step' = step
	Wanted' = Wanted
	Doubled' = Doubled
}

-- Nine tenths are over
pred pass [i: Instance] {
	i in Runs + Remembers
	some Young
	no Young'
	Runs' = Runs
	Remembers' = Remembers
	Sharing' = Sharing
	step' = step
	Wanted' = Wanted
	Doubled' = Doubled
}

pred forget [i: Instance] {
	i in Remembers
	no Young
	Remembers' = Remembers - i
	Sharing' = Sharing - i
	Runs' = Runs
	step' = step
	Wanted' = Wanted
	timeAsItWas
}

-- The session of an instance ends; whoever asks next may run. That it was asked for in vain is forgotten with it
pred kill [i: Instance] {
	Runs' = Runs - i
	Remembers' = Remembers - i
	Sharing' = Sharing - i
	step' = step - i->Step
	Young' = (i in (Runs + Remembers) => none else Young)
	Doubled' = Doubled
	no Wanted'
}

pred rest {
	Sharing' = Sharing
	step' = step
	Wanted' = Wanted
	lockAsItWas
}

fact behaviour {
	always (rest or some i: Instance | ask[i] or askShared[i] or letGo[i] or askAgain[i] or end[i] or fail[i] or pass[i]
		or forget[i] or kill[i])
}

assert onceAnInterval {
	always no Doubled
}

-- Whoever asks at the same time, one of them runs when all are answered
assert oneOfThoseWhoAskRuns {
	always (some Wanted implies some step)
}

-- The second instance runs the second interval, which the third has asked for at the same time
pred handedOver {
	some disj a, b, c: Instance |
		eventually (ask[a] and eventually (end[a] and eventually (forget[a] and eventually (askShared[c] and
			eventually askAgain[b]))) and eventually b in Runs)
}

check onceAnInterval for exactly 3 Instance, 0 Mutant, 14 .. 14 steps expect 0
check oneOfThoseWhoAskRuns for exactly 3 Instance, 0 Mutant, 14 .. 14 steps expect 0
check onceAnInterval for exactly 3 Instance, 1 Mutant, exactly 1 LockOnly, 12 steps expect 1
check oneOfThoseWhoAskRuns for exactly 3 Instance, 1 Mutant, exactly 1 AsksOnce, 12 steps expect 1
run handedOver for exactly 3 Instance, 0 Mutant, 14 steps expect 1
