/*
 * A key with two permits in scope SESSION: the session of an instance has the permits of all its threads, and the server grants it
 * what it has already. A thread asks for those that no other thread of its instance has, and one thread of an instance asks at a
 * time. The statement picks any permit that is free when the server comes to it, and is refused where another session has each.
 *
 * ask        jdbc.PermitRequests.askInTurn, jdbc.HoldRegistry.takenByOthers
 *            PermitTests.holdsOfOneSessionHaveDifferentPermits
 * grant      jdbc.SessionCommand.readRow
 *            PermitTests.asManyRunAsThereArePermitsAndTheNextIsBusy
 * refuse     jdbc.SessionCommand.readRow
 *            PermitTests.permitsOfAllInstancesAndOfOtherProgramsCountTogether
 * release    jdbc.LockSession.unlock
 *            PermitTests.holdsOfOneSessionHaveDifferentPermits
 * kill       environment
 *            PermitTests.waitEndsWhenAnyHolderIsGone
 */
module Permits

sig Permit {}

sig Instance {
	-- what the server has granted to its session
	var granted: set Permit
}

sig Thread {
	of: one Instance,
	-- what its statement asks for, while that is on its way
	var wanted: set Permit,
	var has: lone Permit
}

-- The mutants: a thread asks also for what its own session has; two threads of an instance ask at a time; the server keeps what
-- a session had that is gone, as a lease does
abstract sig Mutant {}
lone sig AsksForOwn, AsksTogether, Lingers extends Mutant {}

fact init {
	no granted
	no wanted + has
}

-- Whoever asks for nothing is busy without a statement
pred ask [t: Thread] {
	no t.wanted + t.has
	some AsksTogether or no (t.of.~of).wanted
	let free = (some AsksForOwn => Permit else Permit - (t.of.~of).has) {
		some free
		wanted' = wanted + t->free
	}
	has' = has
	granted' = granted
}

-- What the session has already is free for it
pred grant [t: Thread] {
	some p: t.wanted {
		p not in (Instance - t.of).granted
		has' = has + t->p
		granted' = granted + t.of->p
	}
	wanted' = wanted - t->Permit
}

pred refuse [t: Thread] {
	some t.wanted
	t.wanted in (Instance - t.of).granted
	wanted' = wanted - t->Permit
	has' = has
	granted' = granted
}

-- The server counts how often it has granted a permit to a session
pred release [t: Thread] {
	some t.has
	has' = has - t->Permit
	granted' = granted - t.of->(t.has - (t.of.~of - t).has)
	wanted' = wanted
}

pred kill [i: Instance] {
	some i.granted + (i.~of).wanted
	has' = has - i.~of->Permit
	wanted' = wanted - i.~of->Permit
	granted' = (some Lingers => granted else granted - i->Permit)
}

pred rest {
	has' = has
	wanted' = wanted
	granted' = granted
}

fact behaviour {
	always (rest or (some t: Thread | ask[t] or grant[t] or refuse[t] or release[t]) or (some i: Instance | kill[i]))
}

-- So no more run than there are permits
assert eachPermitHasOneHolder {
	always no disj a, b: Thread | some a.has & b.has
}

assert whatNobodyHasIsFree {
	always all i: Instance | i.granted = (i.~of).has
}

-- All permits are held, two threads of one instance among the holders; the instance is killed, and another one gets its permits
pred allHeldAndFreed {
	some disj a, b: Thread, c: Thread | a.of = b.of and c.of != a.of and
		eventually (Permit = (a + b).has and eventually (kill[a.of] and eventually some c.has))
}

check eachPermitHasOneHolder for exactly 3 Instance, exactly 4 Thread, exactly 2 Permit, 0 Mutant, 12 .. 12 steps expect 0
check whatNobodyHasIsFree for exactly 3 Instance, exactly 4 Thread, exactly 2 Permit, 0 Mutant, 12 .. 12 steps expect 0
check eachPermitHasOneHolder for exactly 3 Instance, exactly 4 Thread, exactly 2 Permit, 1 Mutant, exactly 1 AsksForOwn, 12 steps expect 1
check eachPermitHasOneHolder for exactly 3 Instance, exactly 4 Thread, exactly 2 Permit, 1 Mutant, exactly 1 AsksTogether, 12 steps expect 1
check whatNobodyHasIsFree for exactly 3 Instance, exactly 4 Thread, exactly 2 Permit, 1 Mutant, exactly 1 Lingers, 12 steps expect 1
run allHeldAndFreed for exactly 3 Instance, exactly 4 Thread, exactly 2 Permit, 0 Mutant, 12 steps expect 1
