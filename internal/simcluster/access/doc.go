// Package access is the access control of the simulated mongos: authentication
// (SCRAM-SHA-1, SCRAM-SHA-256 and X.509 certificates), users and roles, and
// authorization of commands.
//
// A Control holds users and roles; it is safe for concurrent use. A Session holds the
// authenticated users of one connection. Refusals have the text of MongoDB 5.0.7: a
// wrong password and an unknown user get the same error after the same work.
//
// The rules follow observations of MongoDB 5.0.7 and its sources db/auth/builtin_roles,
// db/auth/authorization_session_impl and the checks of the mongos commands. Unlike
// 5.0.7, which caches users, changes take effect with the next command.
package access
