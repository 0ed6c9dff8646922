package shop;

import java.util.Optional;

import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.springframework.stereotype.Service;

@Service
public class PartnerJobs {

	private final Journal journal;

	public PartnerJobs(Journal journal) {
		this.journal = journal;
	}

	// 8: a lock for each partner
	@SchedulerLock(name = "partner-#{#partner}-#{#p1}", lockAtMostFor = "15m")
	public Optional<String> load(String partner, int shelf) {
		this.journal.note("load");
		return Optional.of(partner);
	}

	// 9 and 10: never at the same time
	@SchedulerLock(name = "partners")
	public void publish() {
		this.journal.note("publish");
	}

	@SchedulerLock(name = "partners")
	public String withdraw() {
		this.journal.note("withdraw");
		return "done";
	}

}
