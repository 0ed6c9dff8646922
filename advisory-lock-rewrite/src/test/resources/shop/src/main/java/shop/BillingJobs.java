package shop;

import static net.javacrumbs.shedlock.core.LockAssert.assertLocked;

import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

@Component
public class BillingJobs {

	private final Journal journal;

	public BillingJobs(Journal journal) {
		this.journal = journal;
	}

	// 1: a constant for the name, and one for the time
	@Scheduled(cron = "0 0 2 * * *")
	@SchedulerLock(name = Locks.INVOICES, lockAtMostFor = Locks.AN_HOUR)
	public void invoices() {
		assertLocked();
		this.journal.note("invoices");
	}

	// 2: in a transaction of its own
	@Scheduled(cron = "0 30 2 * * *")
	@Transactional(timeout = 60)
	@SchedulerLock(name = "reminders", lockAtMostFor = "10m", lockAtLeastFor = "30s")
	public void reminders() {
		this.journal.note("reminders");
	}

	// 3: an annotation of the shop's own
	@Nightly(job = "ledger-close", atMost = "4h")
	public void closeLedger() {
		this.journal.note("closeLedger");
	}

	// 4: and once more
	@Nightly(job = "ledger-export")
	public void exportLedger() {
		this.journal.note("exportLedger");
	}

}
