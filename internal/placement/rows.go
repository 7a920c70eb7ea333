package placement

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// ProjectRow is what is read of one project document. Secret keys, webhook
// addresses and password hashes are not part of it: they are left out by the
// projection and never reach this process.
type ProjectRow struct {
	ID        bson.ObjectID
	Stored    Stored
	Name      string
	PublicKey string
	Owner     bson.ObjectID // zero if absent
	CreatedAt time.Time
	Documents *int64    // projects.stats_*: nil when the layout has no such figure
	Clients   *int64    // likewise
	StatsAt   time.Time // when the two figures were taken; zero if absent
}

// DocumentRow is what is read of one Yorkie document.
type DocumentRow struct {
	ID        bson.ObjectID
	Stored    Stored // of ID
	Project   bson.ObjectID
	Key       string
	StoredKey Stored // of Key; "" where the row has none
	Removed   bool   // has removed_at
	CreatedAt time.Time
	UpdatedAt time.Time
	ServerSeq int64
}

// IDRow is what is read of any stored document when asking where an id lives:
// the fields that can be part of a shard key, nothing else. Absent fields are zero.
type IDRow struct {
	ID       bson.ObjectID
	Project  bson.ObjectID
	Document bson.ObjectID // doc_id

	StoredID, StoredProject, StoredDocument Stored

	Key       string
	StoredKey Stored // of Key; "" where the row has none
}

// KeyedRow is what is read of a stored row to tell on which shard it is: its
// _id and the fields of its shard key, nothing else.
type KeyedRow struct {
	ID  bson.ObjectID
	Doc bson.Raw // of the fields that were asked for, owned by the row
}

// id is the _id as it is stored.
func (r KeyedRow) id() bson.RawValue { return r.Doc.Lookup("_id") }

// sameID tells whether two rows could not be on one shard.
func (r KeyedRow) sameID(o KeyedRow) bool {
	return r.ID == o.ID && !r.ID.IsZero() || r.id().Equal(o.id())
}
