/*
 * Scope SESSION with the ledger: a session can be lost while its work goes on, so two may work at a time. What writes
 * to another system with its token never undoes what a later holder wrote.
 *
 * take    jdbc.SessionScope: the lock                                 SessionScopeTests
 * draw    ledger.RunRepository: the token, on the connection that holds the lock   LedgerFencingTests
 * start   ledger.RecordedRun.begin: written only if no higher token is known       LedgerFencingTests
 * lose    the server ends the session; the work does not know yet     SessionFaultTests
 * write   the work writes to another system, which keeps the highest token         LedgerFencingTests
 * end     the work ends and releases what it still has                SessionScopeTests
 */
module SessionTokens

sig Instance {
	var token: Int
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
	var highest: Int
}

-- A write was taken from a holder older than one that had written
var lone sig Overwritten in Store {}

-- A start was written after that of a successor
var lone sig Overtaken in Store {}

one sig Rules {}
-- The mutants: a token is drawn before the lock is taken; a start is written whatever is known
lone sig DrawsFirst in Rules {}
lone sig StartsAnyway in Rules {}

fact init {
	no Holder + Runs + Overwritten + Overtaken
	all i: Instance | i.token = 0
	Server.drawn = 0
	Server.started = 0
	Store.highest = 0
}

pred others {
	started' = started
	highest' = highest
	Overwritten' = Overwritten
	Overtaken' = Overtaken
}

pred take [i: Instance] {
	no Holder
	i not in Runs
	some DrawsFirst => i.token > 0 else i.token = 0
	Holder' = i
	Runs' = Runs
	token' = token
	drawn' = drawn
	others
}

pred draw [i: Instance] {
	i.token = 0
	i not in Runs
	some DrawsFirst or i in Holder
	plus[Server.drawn, 1] > 0
	drawn' = Server->plus[Server.drawn, 1]
	token' = token ++ i->plus[Server.drawn, 1]
	Holder' = Holder
	Runs' = Runs
	others
}

pred start [i: Instance] {
	i.token > 0
	i not in Runs
	some DrawsFirst implies i in Holder
	i.token > Server.started or some StartsAnyway or some DrawsFirst
	Runs' = Runs + i
	Overtaken' = Overtaken + (i.token > Server.started => none else Store)
	started' = Server->(i.token > Server.started => i.token else Server.started)
	token' = token
	drawn' = drawn
	Holder' = Holder
	highest' = highest
	Overwritten' = Overwritten
}

pred lose [i: Instance] {
	i in Holder
	Holder' = Holder - i
	Runs' = Runs
	token' = token
	drawn' = drawn
	others
}

-- The other system takes what comes with the highest token it knows, or a higher one
pred write [i: Instance] {
	i in Runs
	i.token >= Store.highest
	highest' = Store->i.token
	Overwritten' = Overwritten
	Overtaken' = Overtaken
	started' = started
	Holder' = Holder
	Runs' = Runs
	token' = token
	drawn' = drawn
}

pred end [i: Instance] {
	i.token > 0
	Runs' = Runs - i
	Holder' = Holder - i
	token' = token ++ i->0
	drawn' = drawn
	others
}

pred rest {
	Holder' = Holder
	Runs' = Runs
	token' = token
	drawn' = drawn
	others
}

fact behaviour {
	always (rest or some i: Instance | take[i] or draw[i] or start[i] or lose[i] or write[i] or end[i])
}

pred asWritten {
	no DrawsFirst
	no StartsAnyway
}

-- Who holds the lock and runs has the highest token of all who run: nobody else's write is taken after its own
assert holderIsHighest {
	asWritten implies always all i: Holder & Runs, other: Runs - i | other.token < i.token
}

assert startsRise {
	asWritten implies always no Overtaken
}

assert holderIsHighestWhenDrawnFirst {
	(some DrawsFirst and no StartsAnyway) implies always all i: Holder & Runs, other: Runs - i | other.token < i.token
}

assert startsRiseAnyway {
	(no DrawsFirst and some StartsAnyway) implies always no Overtaken
}

-- A holder that lost its lock still writes, until its successor has, and is refused then
pred fenced {
	asWritten
	some disj a, b: Instance |
		eventually (lose[a] and a in Runs and eventually (write[a] and eventually (write[b] and b in Holder
			and after (a in Runs and a.token < Store.highest))))
}

check holderIsHighest for exactly 3 Instance, 4 Int, 1 Rules, 12 steps expect 0
check startsRise for exactly 3 Instance, 4 Int, 1 Rules, 12 steps expect 0
check holderIsHighestWhenDrawnFirst for exactly 3 Instance, 4 Int, 1 Rules, 12 steps expect 1
check startsRiseAnyway for exactly 3 Instance, 4 Int, 1 Rules, 12 steps expect 1
run fenced for exactly 3 Instance, 4 Int, 1 Rules, 14 steps expect 1
