/*
 * Another schedule for a job with once = PER_TICK, from a time on that is the same for all instances: none of the old ticks runs
 * after it, none of the new ones is missing while somebody is awake, and none runs twice, whoever sleeps over it.
 *
 * write    ledger.jdbc.JobSchedules.reschedule
 *          RescheduledJobTests.operatorGivesAnotherScheduleAndTakesItBack
 * learn    ledger.jdbc.JobSchedules.learn
 *          RescheduledJobTests.newScheduleHoldsFromItsTimeOn
 * call     ledger.jdbc.RecordedRun.begin, ledger.jdbc.RunRepository.learnSchedules
 *          RescheduledJobTests.instanceThatLearnsLateRunsNoTickOfTheOldSchedule
 * advance  environment
 *          SkewedClockSoakTests.scheduleIsAnotherOneFromOneTickToTheNextWhereverAnInstanceIs
 * sleep    environment
 *          SkewedClockSoakTests.scheduleIsAnotherOneFromOneTickToTheNextWhereverAnInstanceIs
 * wake     environment
 *          SkewedClockSoakTests.scheduleIsAnotherOneFromOneTickToTheNextWhereverAnInstanceIs
 */
module Reschedule

open util/ordering[Tick]

abstract sig Schedule {}
one sig Old, New extends Schedule {}

-- A time, and the schedules that plan it
sig Tick {
	of: set Schedule
}

-- From when on the operator's schedule holds
one sig Change {
	from: one Tick
}

sig Instance {}

one sig Clock {
	var at: one Tick
}

var sig Awake in Instance {}

-- Those that know of the change, and those that have called what they plan for this time
var sig Learned, Called in Instance {}

-- Whether the ledger has the change
var sig Written in Change {}

-- Ticks that have run, those that have run twice, and those at whose time somebody was awake
var sig Ran, Twice, Watched in Tick {}

-- The mutants: the ledger does not refuse who does not know of the change; it remembers no tick; the change holds where it is known,
-- from then on; nobody hears of it before a call is refused
abstract sig Mutant {}
lone sig WithoutRefusal, WithoutMemory, AtOnce, Deaf extends Mutant {}

fun new: set Tick {
	Change.from + Change.from.nexts
}

fun holding [t: Tick]: Schedule {
	some Written and t in new => New else Old
}

fun planned [i: Instance, t: Tick]: Schedule {
	i in Learned and (t in new or some AtOnce) => New else Old
}

fact init {
	Clock.at = first
	Awake = Instance
	no Learned + Called
	no Written
	no Ran + Twice + Watched
}

pred ledger {
	Written' = Written
	runs
}

pred runs {
	Ran' = Ran
	Twice' = Twice
}

pred time {
	at' = at
	Watched' = Watched
}

-- An operator gives the job another schedule, ahead of its time
pred write {
	no Written
	Clock.at in Change.from.prevs
	Written' = Change
	runs
	time
	Awake' = Awake
	Learned' = Learned
	Called' = Called
}

-- By a NOTIFY or the heartbeat: the waiting call is planned anew
pred learn [i: Instance] {
	i in Awake - Learned
	some Written
	Learned' = Learned + i
	Called' = Called - i
	Awake' = Awake
	ledger
	time
}

-- A call for a tick, maybe a late one. Who does not know the schedule that holds learns it: all of its calls are planned anew
pred call [i: Instance, t: Tick] {
	i in Awake
	t in Clock.at + Clock.at.prevs
	t = Clock.at implies i not in Called
	let refused = (some Written and i not in Learned and no WithoutRefusal and planned[i, t] in t.of) {
		refused implies {
			Learned' = Learned + i
			Called' = Called - i
			runs
		}
		not refused implies {
			Learned' = Learned
			Called' = (t = Clock.at => Called + i else Called)
			(planned[i, t] in t.of and (some WithoutMemory or no Ran & (t + t.nexts))) => {
				Ran' = Ran + t
				Twice' = Twice + (t & Ran)
			} else runs
		}
	}
	Written' = Written
	Awake' = Awake
	time
}

-- Half a minute has more than one heartbeat: who is awake has learnt
pred advance {
	some Clock.at.next
	Awake in Called
	some Written and no Deaf implies Awake in Learned
	at' = Clock->Clock.at.next
	Watched' = Watched + (some Awake => Clock.at else none)
	no Called'
	Awake' = Awake
	Learned' = Learned
	ledger
}

-- An instance is frozen
pred sleep [i: Instance] {
	i in Awake
	Awake' = Awake - i
	Learned' = Learned
	Called' = Called
	ledger
	time
}

pred wake [i: Instance] {
	i not in Awake
	Awake' = Awake + i
	Learned' = Learned
	Called' = Called
	ledger
	time
}

pred rest {
	Awake' = Awake
	Learned' = Learned
	Called' = Called
	ledger
	time
}

fact behaviour {
	always (rest or write or advance or some i: Instance | learn[i] or sleep[i] or wake[i] or some t: Tick | call[i, t])
}

assert noneOfTheOldAfter {
	always (some Written implies all t: Ran & new | New in t.of)
}

assert noneOfTheNewMissing {
	always all t: Watched | holding[t] in t.of implies t in Ran
}

assert noTickTwice {
	always no Twice
}

-- An instance that slept over the change is refused with an old tick, and runs a new one
pred sleptOverIt {
	some i: Instance, disj t, u: Tick | New not in t.of and t in new and
		eventually (sleep[i] and eventually (wake[i] and i not in Learned and eventually (call[i, t] and
			eventually (call[i, u] and u not in Ran and after (u in Ran and u in new)))))
}

check noneOfTheOldAfter for exactly 3 Instance, exactly 4 Tick, 0 Mutant, 14 .. 14 steps expect 0
check noneOfTheNewMissing for exactly 3 Instance, exactly 4 Tick, 0 Mutant, 14 .. 14 steps expect 0
check noTickTwice for exactly 3 Instance, exactly 4 Tick, 0 Mutant, 14 .. 14 steps expect 0
check noneOfTheOldAfter for exactly 3 Instance, exactly 2 Tick, 1 Mutant, exactly 1 WithoutRefusal, 12 steps expect 1
check noTickTwice for exactly 3 Instance, exactly 2 Tick, 1 Mutant, exactly 1 WithoutMemory, 12 steps expect 1
check noneOfTheNewMissing for exactly 3 Instance, exactly 3 Tick, 1 Mutant, exactly 1 AtOnce, 12 steps expect 1
check noneOfTheNewMissing for exactly 3 Instance, exactly 3 Tick, 1 Mutant, exactly 1 Deaf, 12 steps expect 1
run sleptOverIt for exactly 3 Instance, exactly 4 Tick, 0 Mutant, 16 steps expect 1
