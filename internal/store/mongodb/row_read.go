package mongodb

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/records"
)

// idColumns are the columns that are the _id of a document.
var idColumns = map[string]string{
	"settings": "name", "audit": "seq", "audit_heads": "n", "users": "id", "sessions": "id", "tokens": "id", "plans": "id",
	"removed_plans": "id", "runs": "id", "history": "seq",
}

func fieldOf(table, column string) string {
	if idColumns[table] == column {
		return "_id"
	}
	return column
}

// errBadField means that a document has a field of another type than its column.
var errBadField = errors.New("not written by shardboard")

// rowReader reads documents as rows, in a session whose first read sets the moment of all others; nil: none.
type rowReader struct {
	db      *DB
	session *mongo.Session
}

// Snapshot calls f with a reader of all collections at one moment. Servers before 5.0 cannot read a
// moment, so nobody else may have the store open then.
func (db *DB) Snapshot(ctx context.Context, f func(store.RowReader) error) error {
	if err := db.Alone(ctx); err == nil {
		return f(rowReader{db: db})
	}
	s, err := db.client.StartSession(options.Session().SetSnapshot(true))
	if err != nil {
		return db.failed(ctx, err)
	}
	defer s.EndSession(context.WithoutCancel(ctx))
	err = f(rowReader{db, s})
	switch {
	case err == nil:
	case hasCode(err, codeSnapshotTooOld):
		return fault.Wrap(fault.Unavailable, err, "Reading the store %s took longer than its server keeps the moment at which it began "+
			"(minSnapshotHistoryWindowInSeconds, 5 minutes by default). Stop all replicas first, or let the server keep it for longer.", db.address)
	case strings.Contains(err.Error(), "snapshot reads require"):
		return fault.Wrap(fault.Conflict, err, "A shardboard has the store %s open, and this MongoDB is too old to read it meanwhile "+
			"(5.0 and later can). Stop all replicas first.", db.address)
	}
	return err
}

func (r rowReader) ReadRows(ctx context.Context, t store.Table, f func(store.Row) error) error {
	if r.session != nil {
		ctx = mongo.NewSessionContext(ctx, r.session)
	}
	return r.db.failed(ctx, records.ReadRows(ctx, transaction{r.db}, t, f))
}

// rowOf converts a document. A field of another type was not written by shardboard.
func (db *DB) rowOf(ctx context.Context, t store.Table, d bson.Raw) (store.Row, error) {
	row := make(store.Row, 0, len(t.Columns))
	for _, c := range t.Columns {
		value, ok := columnOf(c.Type, d.Lookup(fieldOf(t.Name, c.Name)))
		if !ok {
			return nil, fault.Wrap(fault.Unavailable, errBadField,
				"The field %s of a document of %s has a value that shardboard did not write.", c.Name, t.Name)
		}
		if c.Type == store.Body {
			var b body
			if err := bson.Unmarshal(d, &b); err != nil {
				return nil, err
			}
			whole, err := db.whole(ctx, b)
			if err != nil {
				return nil, err
			}
			value = bytesOf(whole)
		}
		row = append(row, value)
	}
	return row, nil
}

// columnOf is a column of a row by the field of a document. A column that came with a later version has its zero value.
func columnOf(kind store.ColumnType, v bson.RawValue) (value any, ok bool) {
	missing := v.Type == 0
	optional := kind == store.Ended || kind == store.Unset
	if optional && (missing || v.Type == bson.TypeNull) {
		return nil, true
	}
	switch kind {
	case store.Text:
		value, ok = v.StringValueOK()
	case store.Number:
		value, ok = v.AsInt64OK()
	case store.Time, store.Ended:
		value, ok = v.DateTimeOK()
	case store.Flag:
		var set bool
		set, ok = v.BooleanOK()
		value = flagOf(set)
	default:
		var b []byte
		_, b, ok = v.BinaryOK()
		value = append([]byte{}, b...)
	}
	return value, ok || missing
}

func flagOf(set bool) int64 {
	if set {
		return 1
	}
	return 0
}

// Alone fails when another process has the store open.
func (db *DB) Alone(ctx context.Context) error {
	l, err := db.readLease(ctx)
	if err != nil {
		return err
	}
	name := ""
	if l.Overdue < 0 && l.Holder != "" && l.Holder != db.id {
		name = l.Name
	}
	others, err := db.otherReplicas(ctx)
	if err != nil {
		return err
	}
	for _, r := range others {
		if r.lives(db.o.Lease) {
			name = r.Name
		}
	}
	if name != "" {
		return fault.New(fault.Conflict,
			"A shardboard has the store %s open: %s. Stop all of them first; one that was killed counts for %d seconds.",
			db.address, name, int(db.o.Lease/time.Second))
	}
	return nil
}
