CREATE TABLE of_application (id bigint PRIMARY KEY);
