// Package access is the access control of the simulated mongos: who a connection
// is (SCRAM-SHA-1 and SCRAM-SHA-256), what users and roles there are, and whether
// what a connection asks for is allowed.
//
// A Control holds users and roles; it is safe for concurrent use. A Session is what
// one connection has proven to be; it belongs to that connection alone. A refusal is
// worded as MongoDB 5.0.7 words it, and says as little: a wrong password and an
// unknown user fail alike, after the same work.
//
// The rules follow MongoDB 5.0.7 as observed and its sources db/auth/builtin_roles,
// db/auth/authorization_session_impl and the checks of the mongos commands. Where
// 5.0.7 waits for its cache of users to expire, a change here takes effect with the
// next command.
package access
