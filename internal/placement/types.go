// Package placement answers "where is it": which shards hold a project, a
// Yorkie document or any id, from one routing table and as little data read as
// the question allows.
package placement

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/message"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Source is what placement needs read from a cluster. Rows never hold secrets:
// the projections name the fields that are fetched. Errors are classified with
// fault (code 13 as Forbidden).
type Source interface {
	// Projects reads the projects of a database in _id order: all of them, or
	// those with _id > after only. A *topology.SkippedError comes with rows.
	Projects(ctx context.Context, db string, f profile.ProjectFields, after bson.ObjectID, all bool) ([]ProjectRow, error)
	// ProjectsInDocuments are the projects of a database without a list of them: the different values in the documents.
	// ranged: an index begins with the value. Else they are those of some random rows, and note says so.
	ProjectsInDocuments(ctx context.Context, db string, f profile.DocumentFields, ranged bool) (rows []ProjectRow, note string, err error)
	// DocumentsByKey is one query targeted by project id; removed documents are included.
	DocumentsByKey(
		ctx context.Context,
		db string,
		f profile.DocumentFields,
		project bson.RawValue,
		key string,
		limit int,
	) ([]DocumentRow, error)
	// DocumentsByKeyIn is one query for any of the keys in any of the projects; targeted where the
	// project leads the shard key.
	DocumentsByKeyIn(
		ctx context.Context,
		db string,
		f profile.DocumentFields,
		projects []bson.RawValue,
		keys []string,
		limit int,
	) ([]DocumentRow, error)
	// DocumentsOf is one query for a page of a project's documents by key, removed ones too; targeted by project id.
	DocumentsOf(ctx context.Context, db string, f profile.DocumentFields, project bson.RawValue, page DocumentPage) ([]DocumentRow, error)
	// RowsByID is one query for rows with any of the ids, with the named fields besides; a broadcast unless
	// _id leads the shard key.
	RowsByID(ctx context.Context, ns topology.Namespace, names []string, values []bson.RawValue, limit int) ([]bson.Raw, error)
	// ByID is one {_id: id} query; a broadcast unless _id leads the shard key.
	ByID(ctx context.Context, db string, f profile.RowFields, id bson.ObjectID, limit int) ([]IDRow, error)
	// ByReference is one {project, _id: id} query; targeted where the project leads the shard key.
	ByReference(ctx context.Context, db string, f profile.RowFields, project, id bson.ObjectID, limit int) ([]IDRow, error)
}

// Project is one tenant.
type Project struct {
	DB        string
	ID        bson.ObjectID
	Stored    Stored
	Name      string
	PublicKey string
	CreatedAt time.Time // zero when the row does not say
	Documents topology.Figure
	Clients   topology.Figure
}

// Presence says whether a collection of the profile is there.
type Presence uint8

const (
	PresenceUnknown Presence = iota // listCollections not permitted or not read yet
	PresenceYes                     // sharded, or listed
	PresenceNo                      // neither
)

// Verdict answers "can it be pinned" or "can it be split".
type Verdict struct {
	Can bool
	Why message.Message
}

// ShardPart is one shard's part of a project's rows in a collection.
type ShardPart struct {
	Shard     string
	Chunks    int     // chunks of the collection on this shard that can hold rows of the project
	Share     float64 // of those chunks, 0..1
	Bytes     topology.Figure
	Documents topology.Figure
}

// CollectionSpread is where one collection's rows of a project are.
type CollectionSpread struct {
	NS         topology.Namespace
	Scope      profile.Scope
	What       string // catalogue code of what the collection holds
	Presence   Presence
	Sharded    bool
	Key        string // shard key as people write it, "" when unsharded
	Shards     []ShardPart
	Chunks     []topology.Chunk // at most MaxChunksShown
	Pattern    shardkey.Pattern // of Chunks
	ChunkCount int
	Exact      bool   // the set of shards is exact, not "any of these"
	Basis      string // why: BasisKeyPrefix, BasisByDocument, BasisOtherKey, BasisPrimary, BasisTracked, BasisUnknown
	Pin, Split Verdict
}

// MaxChunksShown bounds the chunks listed per collection of a spread.
const MaxChunksShown = 100

// Why a spread is what it is (catalogue codes).
const (
	BasisKeyPrefix  = "keyPrefix"  // the shard key begins with the project: these chunks and no others
	BasisByDocument = "byDocument" // placed per Yorkie document: any shard that owns chunks may hold rows
	BasisOtherKey   = "otherKey"   // placed by a key that begins with neither: any shard that owns chunks may hold rows
	BasisPrimary    = "primary"    // unsharded: the database's primary shard
	BasisTracked    = "tracked"    // unsharded, but placed by itself (8.0 on)
	BasisUnknown    = "unknown"    // the primary shard is not known, or the chunks of a sharded collection
)

// AnyProject tells whether each chunk may have rows of every project.
func (s CollectionSpread) AnyProject() bool {
	return s.Basis == BasisByDocument || s.Basis == BasisOtherKey
}

// BasisText says why a spread is what it is.
func (s CollectionSpread) BasisText() string {
	switch s.Basis {
	case BasisKeyPrefix:
		return "The shard key begins with the project."
	case BasisByDocument:
		return "The shard key is the document's id."
	case BasisOtherKey:
		return "The shard key begins with another field."
	case BasisPrimary:
		return "Not sharded: the database's primary shard."
	case BasisTracked:
		return "Not sharded: all of it is on one shard, which need not be the primary shard of the database."
	case BasisUnknown:
		if s.Sharded || s.Pin.Why.Code == chunksUnknown.Code {
			return chunksUnknown.String()
		}
		return "The primary shard is not known."
	}
	return s.Basis
}

// Spread is where a project's data is, collection by collection.
type Spread struct {
	Project     Project
	Layout      string
	Collections []CollectionSpread
}

// Query is a question to Locate: free text, or a namespace with a shard-key value.
type Query struct {
	Text string
	NS   topology.Namespace
	Key  string // Extended JSON
	Near bool   // the only project with a near name stands for one that does not exist; wider searches are offered
	In   In     // where to search, besides where the text alone leads
}

// Item is one thing that a query can mean, and where it is.
type Item struct {
	Kind    string // project, document, client, schema, revision, row, key
	ID      string // hex ObjectID or the key as Extended JSON
	Name    string // project name, Yorkie document key
	DB      string
	Project *Project // the owning project when known
	Removed bool     // a Yorkie document with removed_at
	Places  []Place
	Notes   []message.Message
}

// Place is one collection's part of an item.
type Place struct {
	NS       topology.Namespace
	What     string // catalogue code of what the collection holds, "" without a profile
	Sharded  bool
	Shards   []string // exactly one when placement is exact; several = may be on any of these
	Exact    bool
	Pattern  shardkey.Pattern // zero when unsharded
	Key      shardkey.Key     // the full key looked up; zero when only a prefix is known
	Min, Max shardkey.Key     // the chunk that holds Key; zero when Key is
	Hash     *int64           // of the hashed field
	Version  topology.Version
	Since    bson.Timestamp
	Jumbo    bool
	Zone     string
	Match    []Equal          // what is known of the row, for asking the cluster about it
	Exists   string           // "yes": the row was seen; "would-be": where it would be; "unknown"; "absent": collection missing
	Damage   *topology.Damage // the collection's routing table is damaged: Shards are the owners of Key by the metadata, or none
	Missing  []string         // those of Shards that config.shards does not list
	Chunks   int              // chunks that may hold it when Key is not complete
}
