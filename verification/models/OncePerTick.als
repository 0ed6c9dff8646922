/*
 * A tick of a job with once = PER_TICK, catchUp and maxRetries = 1, in scope TRANSACTION: whatever dies, its effect in the
 * database happens once, and it happens as long as somebody lives, unless its run was cancelled or has failed twice by itself.
 * There are two keys, as a scheduled call may call several guarded methods, one after the other: each has the tick for itself.
 *
 * begin    ledger.jdbc.RecordedRun.begin, jdbc.TransactionScope.acquire
 *          LedgerTests.tickRunsOnceAndOlderOneNotAtAll
 *          UnfinishedTickWatcherTests.tickIsTakenOverWhenItsHolderVanishesAndIsNotCalledMissedBefore
 *          DelegatedCallTests.eachKeyIsOncePerTickInWhateverOrder
 * commit   ledger.jdbc.RecordedRun.complete
 *          LedgerTransactionTests.joinedRunCommitsTogetherWithItsEffect
 * fail     ledger.jdbc.RecordedRun.failWhileHeld, ledger.jdbc.RecordedRun.fail, ledger.jdbc.RecordedRun.judge
 *          LedgerTests.failedRunIsRecordedAndDoesNotUseTickUp
 *          BadEndTests.tickThatFailedIsTriedAgainSoOftenAndThenForAnOperatorOnly
 *          BadEndTests.runWhoseTransactionIsCutUsesNoRetryUp
 * cancel   jdbc.LossNotifier.revoke, ledger.jdbc.RecordedRun.judge
 *          CancelledRunTests.cancelledRunIsNoFailureAndIsNotTriedAgain
 *          BadEndTests.runThatIsEndedByItsLimitIsNotTriedAgain
 * stop     ledger.jdbc.LedgerLifecycle.stop
 *          MissedOrFailedTickTests.runThatAShutdownEndsIsMadeUpForByAnotherInstanceAndHasNotFailed
 * kill     environment
 *          TakeoverTests.ticksWhoseRunnerIsKilledAreTakenOver
 * cut      environment
 *          TransactionWatchTests.runThatEndsWellAfterItsLockWasLostFails
 * notice   environment
 *          LedgerCrashTests.killedTransactionRunLeavesNeitherEffectNorRow
 * restart  environment
 *          UnfinishedTickWatcherTests.missedTickRunsOnceWhenFiveInstancesComeUpTogether
 */
module OncePerTick

sig Key {
	-- whose transaction has the lock
	var holder: lone Instance
}

-- The key that a scheduled call calls first
one sig First extends Key {}

-- What a time is for one key
sig Tick {
	key: one Key
}

sig Instance {
	var runs: lone Tick,
	-- whose transaction the server still has; a run without one cannot commit
	var trx: lone Tick
}

var sig Alive in Instance {}

-- Ticks that the ledger knows as completed
var sig Completed in Tick {}

-- Ticks whose effect is in the database, and those where it is twice
var sig Once, Twice in Tick {}

-- Ticks with an attempt that has failed, as the ledger counts, and those that nobody tries again
var sig Failed, GivenUp in Tick {}

-- Ticks with a second attempt that has failed by itself, and those whose run an operator has cancelled
var sig FailedTwice, Cancelled in Tick {}

-- The mutants: the lock alone decides; it does for all keys but the first, which takes the plan of the scheduled call away; it is a
-- lease, which ends by itself; it is a row, which nobody frees; a run that was cut from the server has failed; one that was
-- cancelled has failed, and no more
abstract sig Mutant {}
lone sig WithoutLedger, PlanTakenAway, Lease, StuckRow, CountsLosses, RetriesCancelled extends Mutant {}

fact init {
	Alive = Instance
	no holder
	no Completed + Once + Twice + Instance.runs + Instance.trx
	no Failed + GivenUp + FailedTwice + Cancelled
}

pred same {
	Alive' = Alive
	tables
}

pred tables {
	effects
	Failed' = Failed
	GivenUp' = GivenUp
	FailedTwice' = FailedTwice
	Cancelled' = Cancelled
}

pred effects {
	Completed' = Completed
	Once' = Once
	Twice' = Twice
}

-- Called by its scheduler, or by a watcher that has found the tick open: the ledger is read under the lock
pred begin [i: Instance, t: Tick] {
	i in Alive
	no i.runs
	no t.key.holder or some Lease
	t not in Completed or some WithoutLedger or (some PlanTakenAway and t.key not in First)
	t not in GivenUp
	holder' = holder ++ t.key->i
	runs' = runs + i->t
	trx' = trx + i->t
	same
}

-- Work and completion are in one transaction
pred commit [i: Instance] {
	i in Alive
	some i.runs
	i.trx = i.runs
	holder' = holder - Key->i
	Completed' = Completed + i.runs
	Once' = Once + i.runs
	Twice' = Twice + (i.runs & Once)
	Failed' = Failed
	GivenUp' = GivenUp
	FailedTwice' = FailedTwice
	Cancelled' = Cancelled
	runs' = runs - i->Tick
	trx' = trx - i->Tick
	Alive' = Alive
}

-- The work fails, or has been cut from the server, which is no failure of its own
pred fail [i: Instance] {
	i in Alive
	some i.runs
	holder' = (i.trx = i.runs => holder - Key->i else holder)
	runs' = runs - i->Tick
	trx' = trx - i->Tick
	let own = (i.trx = i.runs => i.runs else none), counted = (some CountsLosses => i.runs else own) {
		Failed' = Failed + counted
		GivenUp' = GivenUp + (counted & Failed)
		FailedTwice' = FailedTwice + (own & Failed)
	}
	Cancelled' = Cancelled
	Alive' = Alive
	effects
}

-- An operator has the run told to end, or it has lasted too long
pred cancel [i: Instance] {
	i in Alive
	some i.runs
	i.trx = i.runs
	holder' = holder - Key->i
	runs' = runs - i->Tick
	trx' = trx - i->Tick
	Failed' = (some RetriesCancelled => Failed + i.runs else Failed)
	GivenUp' = (some RetriesCancelled => GivenUp + (i.runs & Failed) else GivenUp + i.runs)
	FailedTwice' = FailedTwice
	Cancelled' = Cancelled + i.runs
	Alive' = Alive
	effects
}

-- An instance is shut down in mid-run
pred stop [i: Instance] {
	i in Alive
	some i.runs
	Alive' = Alive - i
	runs' = runs - i->Tick
	trx' = trx - i->Tick
	holder' = holder - Key->i
	tables
}

-- An instance dies
pred kill [i: Instance] {
	i in Alive
	Alive' = Alive - i
	runs' = runs - i->Tick
	trx' = trx
	holder' = holder
	tables
}

-- The server ends a session whose client still runs
pred cut [i: Instance] {
	i in Alive
	some i.trx
	trx' = trx - i->Tick
	holder' = holder - Key->i
	runs' = runs
	same
}

-- The server rolls back what a dead client had begun, and frees its lock
pred notice [i: Instance] {
	i not in Alive
	some i.trx
	trx' = trx - i->Tick
	holder' = (some StuckRow => holder else holder - Key->i)
	runs' = runs
	same
}

pred restart [i: Instance] {
	i not in Alive
	no i.trx
	Alive' = Alive + i
	runs' = runs
	trx' = trx
	holder' = holder
	tables
}

pred rest {
	runs' = runs
	trx' = trx
	holder' = holder
	same
}

fact behaviour {
	always (rest or some i: Instance |
		commit[i] or fail[i] or cancel[i] or stop[i] or kill[i] or cut[i] or notice[i] or restart[i] or some t: Tick | begin[i, t])
}

-- What can go on does so at some time, and faults end at some time
pred fair {
	eventually always no i: Instance | fail[i] or cancel[i] or stop[i] or kill[i] or cut[i]
	all i: Instance {
		(eventually always (i not in Alive and some i.trx)) implies always eventually notice[i]
		(eventually always (some i.runs and i.trx = i.runs)) implies always eventually commit[i]
		(eventually always (some i.runs and i.trx != i.runs)) implies always eventually fail[i]
	}
	all k: Key | (eventually always (no k.holder and some Alive - runs.Tick and some key.k - Completed - GivenUp))
		implies always eventually some i: Instance, t: key.k | begin[i, t]
	always eventually some Alive
}

assert effectOnce {
	always (no Twice and Once = Completed)
}

assert oneRunAtATime {
	always all k: Key | lone trx :> key.k
}

assert neverLost {
	fair implies eventually Tick = Completed + GivenUp
}

-- What vanishes, is shut down or cut from the server uses no retry up
assert givenUpAfterFailures {
	always GivenUp in FailedTwice + Cancelled
}

assert cancelledOnce {
	always all t: Cancelled | no i: Instance | begin[i, t]
}

-- A tick that was begun by three, and completed by the third
pred takenOverTwice {
	some disj a, b, c: Instance, t: Tick |
		eventually (begin[a, t] and eventually (kill[a] and eventually (begin[b, t] and eventually (cut[b] and
			eventually (begin[c, t] and eventually commit[c])))))
}

-- A scheduled call that runs one key after the other, while another instance runs neither
pred bothKeysOfOneCall {
	some disj a, b: Instance, disj t, u: Tick | t.key != u.key and always not (begin[b, t] or begin[b, u]) and
		eventually (begin[a, t] and eventually (commit[a] and eventually (begin[a, u] and eventually commit[a])))
}

-- A tick that failed, was tried again by another instance and failed again
pred triedAgain {
	some disj a, b: Instance, t: Tick |
		eventually (begin[a, t] and eventually (fail[a] and eventually (begin[b, t] and eventually (fail[b] and
			eventually t in GivenUp))))
}

check effectOnce for exactly 3 Instance, exactly 2 Key, exactly 2 Tick, 0 Mutant, 14 .. 14 steps expect 0
check oneRunAtATime for exactly 3 Instance, exactly 2 Key, exactly 2 Tick, 0 Mutant, 14 .. 14 steps expect 0
check neverLost for exactly 3 Instance, exactly 2 Key, exactly 2 Tick, 0 Mutant, 12 .. 12 steps expect 0
check givenUpAfterFailures for exactly 3 Instance, exactly 2 Key, exactly 2 Tick, 0 Mutant, 14 .. 14 steps expect 0
check cancelledOnce for exactly 3 Instance, exactly 2 Key, exactly 2 Tick, 0 Mutant, 14 .. 14 steps expect 0
check effectOnce for exactly 3 Instance, exactly 1 Key, exactly 1 Tick, 1 Mutant, exactly 1 WithoutLedger, 12 steps expect 1
check effectOnce for exactly 3 Instance, exactly 2 Key, exactly 2 Tick, 1 Mutant, exactly 1 PlanTakenAway, 12 steps expect 1
check oneRunAtATime for exactly 3 Instance, exactly 1 Key, exactly 1 Tick, 1 Mutant, exactly 1 Lease, 12 steps expect 1
check neverLost for exactly 3 Instance, exactly 1 Key, exactly 1 Tick, 1 Mutant, exactly 1 StuckRow, 12 steps expect 1
check givenUpAfterFailures for exactly 3 Instance, exactly 1 Key, exactly 1 Tick, 1 Mutant, exactly 1 CountsLosses, 12 steps expect 1
check cancelledOnce for exactly 3 Instance, exactly 1 Key, exactly 1 Tick, 1 Mutant, exactly 1 RetriesCancelled, 12 steps expect 1
run bothKeysOfOneCall for exactly 3 Instance, exactly 2 Key, exactly 2 Tick, 0 Mutant, 12 steps expect 1
run takenOverTwice for exactly 3 Instance, exactly 1 Key, exactly 1 Tick, 0 Mutant, 12 steps expect 1
run triedAgain for exactly 3 Instance, exactly 1 Key, exactly 1 Tick, 0 Mutant, 12 steps expect 1
