package store

import (
	"context"
	"strings"
)

// ColumnType is how a column is stored. In a Row each has one Go type.
type ColumnType string

const (
	Text   ColumnType = "text"   // string
	Number ColumnType = "number" // int64
	Time   ColumnType = "time"   // int64: milliseconds since 1970
	Flag   ColumnType = "flag"   // int64: 0 or 1
	Bytes  ColumnType = "bytes"  // []byte
	Body   ColumnType = "body"   // []byte that may have any size
	Ended  ColumnType = "ended"  // Time, or nil if unset
	Unset  ColumnType = "unset"  // Bytes, or nil if unset
)

// Column is a column of a table.
type Column struct {
	Name string
	Type ColumnType
}

// Table is one kind of rows. All stores have the same, so that rows can be copied from one to
// another as they are.
type Table struct {
	Name    string
	Columns []Column
	Key     []string // unique, and the order of a copy
	// RowID is a column that SQLite has for every table by itself; "" if it is not used.
	RowID string
}

// Row has a value for each column of its table.
type Row []any

// RowReader reads whole tables.
type RowReader interface {
	// ReadRows calls f for every row of a table in the order of its key.
	ReadRows(ctx context.Context, t Table, f func(Row) error) error
}

// RowStore is a store whose rows can be copied.
type RowStore interface {
	Database
	// Snapshot calls f with a reader that sees all tables at one moment, even while others write.
	Snapshot(ctx context.Context, f func(RowReader) error) error
	// Alone fails when another process has the store open.
	Alone(ctx context.Context) error
	// BeginLoad marks an empty store as unusable until EndLoad. It fails when there is a row already,
	// or another process has the store open.
	BeginLoad(ctx context.Context) error
	// LoadRows adds rows, between BeginLoad and EndLoad.
	LoadRows(ctx context.Context, t Table, rows []Row) error
	EndLoad(ctx context.Context) error
}

// Tables are all tables, in the order in which a copy may fill them.
func Tables() []Table {
	return []Table{
		{Name: "settings", Key: []string{"name"}, Columns: columns("name text, value text, at time")},
		{Name: "audit", Key: []string{"seq"}, Columns: columns("seq number, entry bytes, prev bytes, hash bytes")},
		{Name: "audit_heads", Key: []string{"n"}, RowID: "n",
			Columns: columns("n number, seq number, hash bytes, at time, key bytes, signature bytes")},
		{Name: "users", Key: []string{"id"}, Columns: columns("id text, name text, role text, password text, break_glass flag, " +
			"disabled flag, created time, last_login time")},
		{Name: "sessions", Key: []string{"id"}, Columns: columns("id text, hash bytes, subject text, name text, role text, method text, " +
			"origin text, created time, used time, expires time, stale flag, former_hash unset, former_until time, issuer_groups text, seal unset")},
		{Name: "tokens", Key: []string{"id"}, Columns: columns("id text, hash bytes, name text, role text, owner text, created time, " +
			"expires time, used time, revoked time, clusters text, owner_role text, owner_groups text")},
		{Name: "plans", Key: []string{"id"}, Columns: columns("id text, cluster text, by text, kind text, hash text, made time, " +
			"expires time, body bytes")},
		{Name: "plan_approvals", Key: []string{"plan"}, Columns: columns("plan text, cluster text, state text, until time, body bytes, " +
			"seal unset")},
		{Name: "removed_plans", Key: []string{"id"}, Columns: columns("id text, made time")},
		{Name: "runs", Key: []string{"id"}, Columns: columns("id text, seq number, plan text, cluster text, by text, state text, open flag, " +
			"started time, ended ended, body bytes")},
		{Name: "intents", Key: []string{"run", "step"}, Columns: columns("run text, step number, at time, db text, command bytes")},
		{Name: "run_outcomes", Key: []string{"cluster", "run"}, Columns: columns("cluster text, run text, at time, open flag, body bytes")},
		{Name: "history", Key: []string{"seq"}, Columns: columns("seq number, cluster text, stream text, at time, whole flag, body body")},
		{Name: "history_events", Key: []string{"cluster", "at", "id"}, Columns: columns("cluster text, id text, at time, what text, ns text, " +
			"shard text, failed flag, details unset")},
		{Name: "history_watched", Key: []string{"cluster", "since"}, Columns: columns("cluster text, since time, until time")},
		{Name: "history_event_minutes", Key: []string{"cluster", "minute", "what", "ns", "failed"},
			Columns: columns("cluster text, minute number, what text, ns text, failed flag, n number")},
		{Name: "history_event_spans", Key: []string{"cluster", "span", "part", "what", "ns", "failed"},
			Columns: columns("cluster text, span number, part number, what text, ns text, failed flag, n number")},
		{Name: "heat_axes", Key: []string{"cluster", "picture", "id"}, Columns: columns("cluster text, picture text, id number, body bytes")},
		{Name: "heat_columns", Key: []string{"cluster", "picture", "at", "step"},
			Columns: columns("cluster text, picture text, at time, step number, axis number, body bytes")},
		{Name: "surveys", Key: []string{"cluster", "id"}, RowID: "n",
			Columns: columns("n number, cluster text, id text, at time, head bytes, body body")},
		{Name: "holdings", Key: []string{"cluster", "ns"}, Columns: columns("cluster text, ns text, at time, body body")},
		{Name: "dismissals", Key: []string{"cluster", "id"}, Columns: columns("cluster text, id text, by text, reason text, at time")},
		{Name: "takes", Key: []string{"cluster", "id"}, Columns: columns("cluster text, id text, by text, note text, at time")},
		{Name: "problems", Key: []string{"cluster", "id", "since"},
			Columns: columns("cluster text, id text, since time, until ended, body bytes")},
		{Name: "problems_judged", Key: []string{"cluster", "since"}, Columns: columns("cluster text, since time, until time, body bytes")},
		{Name: "alerts", Key: []string{"cluster", "id"}, Columns: columns("cluster text, id text, at time, body bytes")},
		{Name: "silences", Key: []string{"cluster", "id"},
			Columns: columns("cluster text, id text, alert text, rule text, by text, reason text, at time, until time")},
		{Name: "deliveries", Key: []string{"cluster", "target"}, Columns: columns("cluster text, target text, at time, code text, " +
			"status number, alerts number, test flag, failed number")},
		{Name: "watches", Key: []string{"cluster", "by", "kind", "subject"},
			Columns: columns("cluster text, by text, kind text, subject text, at time")},
	}
}

// columns parses "name type, …".
func columns(text string) (out []Column) {
	for part := range strings.SplitSeq(text, ", ") {
		name, kind, _ := strings.Cut(part, " ")
		out = append(out, Column{name, ColumnType(kind)})
	}
	return out
}
