package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/auth"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// Options are the dependencies of an engine. Audit, Directory, Shared, Counter,
// Writes, Recent, Sizes, Latencies, Indexes, Log, Random, Now, Rounds, Maintenance and Approval are optional.
type Options struct {
	Admin     operation.Admin
	Reader    operation.Reader
	Journal   Journal
	Audit     Recorder
	Tables    Tables
	Directory Directories
	Profile   *profile.Profile
	Shared    SharedIDs
	Counter   operation.Counter     // nil: rows are not counted
	Writes    actions.WriteRates    // nil: unknown
	Recent    actions.RecentWrites  // nil: unknown
	Sizes     actions.Sizes         // nil: chunks are not measured
	Latencies operation.Latencies   // nil: unknown
	Indexes   operation.IndexReader // nil: unknown
	Log       *slog.Logger
	Random    io.Reader // source of ids; nil: crypto/rand
	// Now is the clock of everything that is stored; nil: time.Now. Waits take real time.
	Now func() time.Time

	Rounds      topology.ActionSource // the balancer's own log; nil: unknown
	Maintenance []actions.Maintenance // when changes are allowed; none: always
	Approval    ApprovalOptions       // which plans need the approval of a second person; zero: none
}

// ApprovalOptions say which plans need the approval of a second person.
type ApprovalOptions struct {
	Rules     actions.ApprovalRules
	Wait      time.Duration // how long such a plan can be run; 0: ApprovalWait
	Approvers Approvers     // nil: who approved is not looked up again
}

// Approvers tells what has become of accounts and tokens.
type Approvers interface {
	// PrincipalNow returns an account or a token as it is now, with its role on the cluster, by the
	// id of its principal. The error is of the kind Forbidden when it has ended; known is false for
	// people who have no account here.
	PrincipalNow(ctx context.Context, id string) (p auth.Principal, known bool, err error)
	// Lapsed reports whether an account or a token was disabled, revoked or given another role since a time.
	Lapsed(ctx context.Context, id string, since time.Time) (bool, error)
	// Related says why two persons may be one; zero: they are apart.
	Related(ctx context.Context, a, b string) (message.Message, error)
}

func (o Options) withDefaults() Options {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Random = cmp.Or(o.Random, rand.Reader)
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Approval.Wait = cmp.Or(o.Approval.Wait, ApprovalWait)
	return o
}

// Tables provides the routing table.
type Tables interface {
	// Table is the newest one: never nil, not Loaded before the first reads.
	Table() *topology.Table
	// Refresh reads the routing table again and returns when Table has the result.
	Refresh(ctx context.Context) error
}

// Directories provides the projects.
type Directories interface {
	// Directory is the newest one; nil before it was read.
	Directory() *placement.Directory
}

// SharedIDs reports which ids were found on several shards, and when they were
// looked for. A zero time means never.
type SharedIDs interface {
	// SharedIDs are the ids and when they were looked for.
	SharedIDs() ([]placement.SharedID, time.Time)
}

// Journal is the part of the store that the engine writes.
type Journal interface {
	store.Journal
	store.Leadership // only the leader runs plans and takes over the runs of earlier processes
	Writable() error // nil while this process may write; checks the data directory
}

// Recorder appends to the audit record.
type Recorder interface {
	// Append returns the record with its number and hash once it is stored.
	Append(ctx context.Context, e store.AuditEntry) (store.AuditRecord, error)
}
