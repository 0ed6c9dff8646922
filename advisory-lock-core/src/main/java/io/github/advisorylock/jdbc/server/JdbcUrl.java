/*
 * Copyright 2026-present the original author or authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package io.github.advisorylock.jdbc.server;

import java.sql.SQLException;
import java.util.Arrays;
import java.util.Collection;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.springframework.jdbc.datasource.SimpleDriverDataSource;

/**
 * What can be said of a JDBC URL without connecting, and how it may be shown.
 *
 * @since 0.1.0
 */
public final class JdbcUrl {

	private static final Pattern SECRET_PARAMETER = Pattern
		.compile("(?i)([\\w.-]*(?:password|passwd|passphrase|pwd|secret|token|credential)[\\w.-]*=)[^&\\s]*");

	private static final Pattern USER_INFORMATION = Pattern.compile("(//|:)\\S*@");

	private static final Pattern SEVERAL_SERVERS = Pattern.compile("^[^/?]*//[^/?]*,");

	private static final String HIDDEN = "***";

	private JdbcUrl() {
	}

	/**
	 * Hide what must not be printed: user information before a host, and the values of
	 * parameters such as {@code password} and {@code sslpassword}. Rather hides too much
	 * than too little.
	 * @param text a URL, or a message that may have one in it
	 * @return the text without secrets
	 */
	public static String redact(String text) {
		String redacted = SECRET_PARAMETER.matcher(text).replaceAll("$1" + HIDDEN);
		return USER_INFORMATION.matcher(redacted).replaceAll("$1" + HIDDEN + "@");
	}

	/**
	 * Return whether a URL has user information before its host, which no driver that
	 * locks need understands.
	 * @param url the URL
	 * @return whether there is an {@code @} before the parameters
	 */
	public static boolean hasUserInformation(String url) {
		int parameters = url.indexOf('?');
		return ((parameters >= 0) ? url.substring(0, parameters) : url).indexOf('@') >= 0;
	}

	/**
	 * Return whether the driver may choose among several servers.
	 * @param url a URL of PostgreSQL
	 * @return whether there is a comma among its hosts
	 */
	public static boolean namesSeveralServers(String url) {
		return SEVERAL_SERVERS.matcher(url).find();
	}

	/**
	 * Return whether the driver can make sense of the URL of a DataSource. The driver
	 * does not see its secrets: some log what they do not understand.
	 * @param dataSource the DataSource
	 * @return {@code false} if it can't connect to anything, ever
	 */
	public static boolean isUnderstood(SimpleDriverDataSource dataSource) {
		String url = dataSource.getUrl();
		try {
			return url != null && dataSource.getDriver() != null && dataSource.getDriver().acceptsURL(redact(url));
		}
		catch (SQLException ex) {
			return false;
		}
	}

	/**
	 * Remove parameters from a URL of PostgreSQL: its driver lets those of the URL win.
	 * @param url the URL
	 * @param names the names of the parameters
	 * @return the URL without them
	 */
	public static String without(String url, Collection<String> names) {
		int start = url.indexOf('?');
		if (start < 0 || names.isEmpty()) {
			return url;
		}
		return url.substring(0, start + 1) + Arrays.stream(url.substring(start + 1).split("&"))
			.filter((parameter) -> !names.contains(parameter.split("=", 2)[0]))
			.collect(Collectors.joining("&"));
	}

}
