package shop;

final class Locks {

	static final String INVOICES = "invoices";

	static final String AN_HOUR = "PT1H";

	private Locks() {
	}

}
