// Package yorkie runs a real Yorkie server, with clients that edit documents, on
// the simulated cluster, and holds what shardboard says of its data against what
// the cluster says. It is a module of its own: Yorkie and what it needs are no
// part of the product.
package yorkie
