package store

import (
	"context"
	"fmt"
	"os"
	"time"

	"shardboard/internal/fault"
)

// Leadership tells which of the processes that share a store does what only one may do: run plans,
// record history and heat, measure, send alerts, sign the audit record and delete what is old. All
// of them write what people do: sign-ins, accounts, settings, plans.
//
// The owner of a store that is not shared always leads.
type Leadership interface {
	// Leads reports whether this process leads now. Methods that only the leader may call fail with
	// ErrNotLeading in the others, even if the process has not yet noticed that it lost the lead.
	Leads() bool
	// Lead calls work each time this process begins to lead, with a context that ends when it no
	// longer does. What is written with that context, also by methods that everybody may call, fails
	// with ErrNotLeading once this time of leading is over, even if another one has begun here.
	// Lead returns when ctx ends, or with the error of work, unless work failed because the lead was
	// lost. Several parts may call it at the same time.
	Lead(ctx context.Context, work func(ctx context.Context) error) error
	// ConfirmLead writes something that only the leader can write, and nothing else. It fails with
	// ErrNotLeading if another process leads.
	ConfirmLead(ctx context.Context) error
	// Leader describes who leads, as last seen.
	Leader() Leader
}

// Leader describes who leads.
type Leader struct {
	Here  bool      // this process
	Name  string    // host name and process number; "" when nobody is known to lead
	Since time.Time // of this time of leading; without a name, since when nobody is known to lead; zero: unknown
	Term  int64     // number of this time of leading; it grows with each new leader; 0: unknown
	// Renewed is when the lease was last renewed, as far as this process knows, by its own clock. Zero
	// without a name, and where nobody needs a lease.
	Renewed time.Time
	// Shared is false for a store of one process, where nobody else could lead.
	Shared bool
}

// ProcessName is the name of this process in Leader: host name and process number.
func ProcessName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s (process %d)", host, os.Getpid())
}

// ErrNotLeading is returned by methods that only the leader may call.
var ErrNotLeading = fault.New(fault.Unavailable,
	"Another shardboard leads this store now, so this one does not run plans, measure or record. Nothing was changed here; "+
		"the other one carries on.")

// LeadAlways is Lead for a store that is not shared.
func LeadAlways(ctx context.Context, owner bool, work func(ctx context.Context) error) error {
	if owner {
		if err := work(ctx); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}
