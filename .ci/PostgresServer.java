import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.StringJoiner;

import io.github.advisorylock.testsupport.FreePort;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

/**
 * A PostgreSQL of the embedded binaries, on any port, that lives as long as its standard input is open. Says its port, then
 * answers each line of that input, a user, a database and statements, separated by tabs: with the last column of what
 * they return, and a line "done" or "failed". Each has a connection of its own.
 * usage: java -cp TEST_CLASS_PATH PostgresServer.java
 */
final class PostgresServer {

	public static void main(String[] arguments) throws Exception {
		PrintStream answers = System.out;
		// What is logged is no answer
		System.setOut(System.err);
		try (EmbeddedPostgres server = EmbeddedPostgres.builder()
			.setPort(FreePort.find())
			.setPGStartupWait(Duration.ofSeconds(60))
			.setServerConfig("listen_addresses", "localhost")
			.start()) {
			answers.println(server.getPort());
			BufferedReader requests = new BufferedReader(new InputStreamReader(System.in));
			for (String request = requests.readLine(); request != null; request = requests.readLine()) {
				String[] parts = request.split("\t", 3);
				answers.println(answer(server.getJdbcUrl(parts[0], parts[1]), parts[2]));
			}
		}
	}

	private static String answer(String url, String statements) {
		StringJoiner lines = new StringJoiner("\n");
		try (Connection connection = DriverManager.getConnection(url); Statement statement = connection.createStatement()) {
			// One by one: a database can't be created among others
			for (String sql : statements.split(";\\s*")) {
				if (statement.execute(sql)) {
					ResultSet rows = statement.getResultSet();
					while (rows.next()) {
						lines.add(rows.getString(rows.getMetaData().getColumnCount()));
					}
				}
			}
			return lines.add("done").toString();
		}
		catch (SQLException ex) {
			return lines.add(ex.getMessage().replace('\n', ' ')).add("failed").toString();
		}
	}

}
