/*
 * A key with once = PER_KEY, for instance a webhook that is delivered several times: it is worked on once while it is
 * remembered, whoever is killed.
 *
 * begin     ledger.RecordedRun.begin: the completion is read under the lock  LedgerTests
 * commit    ledger.RecordedRun.end: work and completion in one transaction   LedgerTests, LedgerCrashTests
 * kill      kill -9; the server rolls back                           LedgerTests
 * expire    ledger.LedgerStatements: what the row promises is over     LedgerPurgeTests
 * forget    ledger.LedgerPurge: deletes such rows only                LedgerPurgeTests
 */
module OncePerKey

sig Key {}

sig Instance {
	var runs: lone Key,
	-- what it has read of the ledger before it runs
	var unseen: set Key
}

var sig Held in Key {}

-- Keys with a row that says that they are completed, and those whose promise to remember is over
var sig Completed, Expired in Key {}

var sig Once, Twice in Key {}

one sig Rules {}
-- The mutant reads the ledger before it has the lock
lone sig ReadsFirst in Rules {}
-- Another mutant deletes rows whose promise is not over
lone sig ForgetsEarly in Rules {}

fact init {
	no Held + Completed + Expired + Once + Twice + Instance.runs + Instance.unseen
}

pred read [i: Instance, k: Key] {
	some ReadsFirst
	no i.runs
	k not in Completed
	unseen' = unseen + i->k
	runs' = runs
	Held' = Held
	Completed' = Completed
	Expired' = Expired
	Once' = Once
	Twice' = Twice
}

pred begin [i: Instance, k: Key] {
	no i.runs
	k not in Held
	some ReadsFirst => k in i.unseen else k not in Completed
	runs' = runs + i->k
	unseen' = unseen - i->k
	Held' = Held + k
	Completed' = Completed
	Expired' = Expired
	Once' = Once
	Twice' = Twice
}

pred commit [i: Instance] {
	some i.runs
	runs' = runs - i->Key
	unseen' = unseen
	Held' = Held - i.runs
	Completed' = Completed + i.runs
	Expired' = Expired - i.runs
	Once' = Once + i.runs
	Twice' = Twice + (i.runs & Once)
}

pred kill [i: Instance] {
	some i.runs
	runs' = runs - i->Key
	unseen' = unseen - i->Key
	Held' = Held - i.runs
	Completed' = Completed
	Expired' = Expired
	Once' = Once
	Twice' = Twice
}

-- Time passes until the promise of a row is over. From then on a delivery is a new one
pred expire [k: Key] {
	k in Completed
	runs' = runs
	unseen' = unseen
	Held' = Held
	Completed' = Completed
	Expired' = Expired + k
	Once' = Once - k
	Twice' = Twice
}

pred forget [k: Key] {
	k in Completed
	k in Expired or some ForgetsEarly
	runs' = runs
	unseen' = unseen
	Held' = Held
	Completed' = Completed - k
	Expired' = Expired - k
	Once' = Once
	Twice' = Twice
}

pred rest {
	runs' = runs
	unseen' = unseen
	Held' = Held
	Completed' = Completed
	Expired' = Expired
	Once' = Once
	Twice' = Twice
}

fact behaviour {
	always (rest
		or (some i: Instance | commit[i] or kill[i] or some k: Key | read[i, k] or begin[i, k])
		or (some k: Key | expire[k] or forget[k]))
}

pred asWritten {
	no ReadsFirst
	no ForgetsEarly
}

assert workOnce {
	asWritten implies always no Twice
}

assert oneRunOfAKeyAtATime {
	asWritten implies always all k: Key | lone runs.k
}

assert workOnceWhenReadFirst {
	(some ReadsFirst and no ForgetsEarly) implies always no Twice
}

assert workOnceWhenForgottenEarly {
	(no ReadsFirst and some ForgetsEarly) implies always no Twice
}

-- Killed twice and still done, then forgotten and done anew
pred doneAfterAll {
	asWritten
	some disj a, b, c: Instance, k: Key |
		eventually (begin[a, k] and eventually (kill[a] and eventually (begin[b, k] and eventually (kill[b] and
			eventually (begin[c, k] and eventually (commit[c] and eventually forget[k]))))))
}

check workOnce for exactly 3 Instance, exactly 2 Key, 1 Rules, 12 steps expect 0
check oneRunOfAKeyAtATime for exactly 3 Instance, exactly 2 Key, 1 Rules, 12 steps expect 0
check workOnceWhenReadFirst for exactly 3 Instance, exactly 1 Key, 1 Rules, 12 steps expect 1
check workOnceWhenForgottenEarly for exactly 3 Instance, exactly 1 Key, 1 Rules, 12 steps expect 1
run doneAfterAll for exactly 3 Instance, exactly 1 Key, 1 Rules, 12 steps expect 1
