import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

/**
 * A PostgreSQL of the embedded binaries, on any port, that lives as long as this process. Runs a file of statements as its
 * administrator, then says that it is ready. usage: java -cp TEST_CLASS_PATH PostgresServer.java STATEMENTS
 */
final class PostgresServer {

	public static void main(String[] arguments) throws Exception {
		EmbeddedPostgres server = EmbeddedPostgres.builder().setServerConfig("listen_addresses", "localhost").start();
		try (Connection connection = server.getPostgresDatabase().getConnection();
				Statement statement = connection.createStatement()) {
			for (String sql : Files.readString(Path.of(arguments[0])).split(";\\s*")) {
				statement.execute(sql);
			}
		}
		System.out.println("PostgreSQL is ready on port " + server.getPort());
		Thread.currentThread().join();
	}

}
