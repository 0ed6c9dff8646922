package shop;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

@Component
public class Journal {

	private final JdbcTemplate jdbc;

	public Journal(JdbcTemplate jdbc) {
		this.jdbc = jdbc;
	}

	public void note(String job) {
		this.jdbc.update("INSERT INTO journal (job) VALUES (?)", job);
	}

}
