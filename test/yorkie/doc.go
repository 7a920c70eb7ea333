// Package yorkie runs a real Yorkie server with editing clients on the simulated
// cluster and compares shardboard's view of its data with the cluster's. It is a
// separate module, so that Yorkie and its dependencies are not part of the product.
package yorkie
