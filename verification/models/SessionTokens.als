/*
 * Scope SESSION with the ledger: a session can be lost while its work goes on, so two may work at a time. What writes
 * to another system with its token never undoes what a later holder wrote.
 *
 * take   jdbc.SessionScope.acquire
 *        SessionScopeTests.heldLockIsHeldUntilClosed
 * draw   ledger.jdbc.RunRepository.decide
 *        LedgerFencingTests.tokensRiseThoughInstancesWaitForEachOther
 * start  ledger.jdbc.RecordedRun.begin, ledger.jdbc.RunRepository.begin
 *        LedgerAttemptTests.holderThatLostItsLockBeforeItsStartWasWrittenOvertakesNobody
 * lose   environment
 *        SessionScopeTests.lostSessionIsAnErrorOfTheRunAndTheNextRunWorks
 * write  environment
 *        LedgerFencingTests.guardedUpdateRefusesHolderThatWasOvertaken
 * end    jdbc.SessionScope.release
 *        SessionScopeTests.orderlyReleaseTellsNobody
 */
module SessionTokens

sig Instance {
	var token: Int,
	-- who has taken the lock before it has, and may still write
	var predecessors: set Instance
}

var lone sig Holder in Instance {}

-- Who runs, whether or not the lock is still held
var sig Runs in Instance {}

one sig Server {
	var drawn: Int,
	-- the highest token whose start is in the ledger
	var started: Int
}

one sig Store {
	var highest: Int,
	-- those whom a later holder has written after
	var overtaken: set Instance
}

-- A write was taken from somebody who had the lock before one that had written
var lone sig Undone in Store {}

-- A start was written after that of a later holder
var lone sig StartedLate in Server {}

-- The mutants: a token is drawn before the lock is taken; a start is written whatever is known; the store takes any token
abstract sig Mutant {}
lone sig DrawsFirst, StartsAnyway, TakesAnyToken extends Mutant {}

fact init {
	no Holder + Runs + Undone + StartedLate
	no predecessors + overtaken
	all i: Instance | i.token = 0
	Server.drawn = 0
	Server.started = 0
	Store.highest = 0
}

pred sameStore {
	highest' = highest
	overtaken' = overtaken
	Undone' = Undone
}

pred sameLedger {
	started' = started
	StartedLate' = StartedLate
}

pred take [i: Instance] {
	no Holder
	i not in Runs
	some DrawsFirst => i.token > 0 else i.token = 0
	Holder' = i
	predecessors' = predecessors - i->Instance - Instance->i + i->(Instance - i)
	overtaken' = overtaken - Store->i
	highest' = highest
	Undone' = Undone
	Runs' = Runs
	token' = token
	drawn' = drawn
	sameLedger
}

-- On the connection that has the lock
pred draw [i: Instance] {
	i.token = 0
	i not in Runs
	some DrawsFirst or i in Holder
	plus[Server.drawn, 1] > 0
	drawn' = Server->plus[Server.drawn, 1]
	token' = token ++ i->plus[Server.drawn, 1]
	predecessors' = predecessors
	Holder' = Holder
	Runs' = Runs
	sameLedger
	sameStore
}

-- Written only if no higher token is known
pred start [i: Instance] {
	i.token > 0
	i not in Runs
	some DrawsFirst implies i in Holder
	i.token > Server.started or some StartsAnyway or some DrawsFirst
	Runs' = Runs + i
	StartedLate' = StartedLate + (i.token > Server.started => none else Server)
	started' = Server->(i.token > Server.started => i.token else Server.started)
	token' = token
	predecessors' = predecessors
	drawn' = drawn
	Holder' = Holder
	sameStore
}

-- The server ends the session; the work does not know yet
pred lose [i: Instance] {
	i in Holder
	Holder' = Holder - i
	Runs' = Runs
	token' = token
	predecessors' = predecessors
	drawn' = drawn
	sameLedger
	sameStore
}

-- The other system takes what comes with the highest token it knows, or a higher one
pred write [i: Instance] {
	i in Runs
	i.token >= Store.highest or some TakesAnyToken
	highest' = Store->i.token
	overtaken' = overtaken + Store->i.predecessors
	Undone' = Undone + (i in Store.overtaken => Store else none)
	Holder' = Holder
	Runs' = Runs
	token' = token
	predecessors' = predecessors
	drawn' = drawn
	sameLedger
}

-- The work ends and releases what it still has
pred end [i: Instance] {
	i.token > 0
	Runs' = Runs - i
	Holder' = Holder - i
	token' = token ++ i->0
	predecessors' = predecessors
	drawn' = drawn
	sameLedger
	sameStore
}

pred rest {
	Holder' = Holder
	Runs' = Runs
	token' = token
	predecessors' = predecessors
	drawn' = drawn
	sameLedger
	sameStore
}

fact behaviour {
	always (rest or some i: Instance | take[i] or draw[i] or start[i] or lose[i] or write[i] or end[i])
}

assert neverUndone {
	always no Undone
}

-- Who holds the lock and runs has the highest token of all who run
assert holderIsHighest {
	always all i: Holder & Runs, other: Runs - i | other.token < i.token
}

assert startsRise {
	always no StartedLate
}

-- A holder that lost its lock still writes, until its successor has, and is refused then
pred fenced {
	some disj a, b: Instance |
		eventually (lose[a] and a in Runs and eventually (write[a] and eventually (write[b] and b in Holder
			and after (a in Runs and a.token < Store.highest))))
}

check neverUndone for exactly 3 Instance, 4 Int, 0 Mutant, 12 .. 12 steps expect 0
check holderIsHighest for exactly 3 Instance, 4 Int, 0 Mutant, 12 .. 12 steps expect 0
check startsRise for exactly 3 Instance, 4 Int, 0 Mutant, 12 .. 12 steps expect 0
check neverUndone for exactly 3 Instance, 4 Int, 1 Mutant, exactly 1 TakesAnyToken, 12 steps expect 1
check neverUndone for exactly 3 Instance, 4 Int, 1 Mutant, exactly 1 DrawsFirst, 12 steps expect 1
check holderIsHighest for exactly 3 Instance, 4 Int, 1 Mutant, exactly 1 DrawsFirst, 12 steps expect 1
check startsRise for exactly 3 Instance, 4 Int, 1 Mutant, exactly 1 StartsAnyway, 12 steps expect 1
run fenced for exactly 3 Instance, 4 Int, 0 Mutant, 14 steps expect 1
