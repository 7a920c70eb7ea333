package survey

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// Source is what surveys read of a cluster. Errors are classified with fault.
type Source interface {
	// RowSizes reads at most Limit rows in _id order, of one project (its stored id) or, if nil, of all. From an
	// id on it reads those with ids of its type only.
	RowSizes(ctx context.Context, q SizeQuery, project *bson.RawValue, from Position) ([]SizedRow, error)
	// DocumentSize sums up the rows of one Yorkie document.
	DocumentSize(ctx context.Context, q DocumentSizeQuery) (DocumentSize, error)
}

// Tables is the source of the newest table.
type Tables interface{ Table() *topology.Table }

// Directories is the source of the project list.
type Directories interface{ Directory() *placement.Directory }
