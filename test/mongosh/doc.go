// Package mongosh runs MongoDB's shell on the simulated cluster: an operator's commands
// must work and look the same as on a real cluster. mongosh is an ordinary pinned npm
// dependency of this folder, not of the product.
package mongosh
