// Package mongosh runs MongoDB's own shell against the simulated cluster: what
// an operator types at a real cluster has to work, and look the same, there.
// mongosh is an ordinary pinned npm dependency of this folder, not of the product.
package mongosh
