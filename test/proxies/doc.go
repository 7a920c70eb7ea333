// Package proxies tests the examples of docs/install.md with the programs that they are for: each is started as it is
// written there in front of the real binary, at the root and below a path.
package proxies
