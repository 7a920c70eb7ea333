package simcluster

import "shardboard/internal/simcluster/catalog"

// Catalog is the cluster's metadata, for those who play its world: a test that lets
// the balancer move exactly one chunk, or sees what a router can't show.
func (c *Cluster) Catalog() *catalog.Cluster { return c.catalog }
