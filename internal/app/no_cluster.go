package app

import (
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// noTable and noProjects stand for the cluster on the server's own pages, which are about none.
type noTable struct{}

var emptyTable = &topology.Table{}

// Table is empty.
func (noTable) Table() *topology.Table { return emptyTable }

// Subscribe never has news.
func (noTable) Subscribe() (*topology.Table, <-chan struct{}, func()) {
	return emptyTable, nil, func() {}
}

// Viewed does nothing.
func (noTable) Viewed(topology.Namespace) {}

type noProjects struct{}

var emptyDirectory = placement.NewDirectory(0, nil, nil, topology.Health{})

// Directory is empty.
func (noProjects) Directory() *placement.Directory { return emptyDirectory }

// Subscribe never has news.
func (noProjects) Subscribe() (*placement.Directory, <-chan struct{}, func()) {
	return emptyDirectory, nil, func() {}
}
