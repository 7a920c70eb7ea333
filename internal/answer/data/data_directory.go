package data

import (
	"cmp"
	"context"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/store"
)

// DataDirectory is where everything is stored: whether this process may write to
// it, and how it becomes the owner.
type DataDirectory interface {
	// Condition is its state at the last check. It makes no system call.
	Condition() store.Condition
	// TakeOver makes this process the owner after the one before has ended, and
	// returns when pages are served by the owner. Errors: fault.Conflict (there is an
	// owner), Unavailable (lost, or not possible now).
	TakeOver(ctx context.Context, by auth.Principal) error
}

// DataDirectoryState is who owns the data directory, and why this process cannot write to it.
func DataDirectoryState(c store.Condition, l store.Leader) api.DataDirectory {
	out := api.DataDirectory{Leads: l.Here, Hold: string(c.Hold), Writable: c.Hold == store.Owned, Since: api.Time(c.Since)}
	if c.Err != nil {
		out.Why = fault.Text(c.Err)
	}
	if l.Shared {
		out.Leader = &api.Leader{Name: l.Name, Since: api.Time(l.Since)}
	}
	return out
}

// ReadOnlyReason says why nothing can be stored; zero when it can.
func ReadOnlyReason(c store.Condition) message.Message {
	return HoldMessage("readOnly", readOnlyReasons, c)
}

// HoldMessage is the sentence of a list for how the data directory is held; zero
// while this process owns it.
func HoldMessage(code string, patterns map[store.Hold]string, c store.Condition) message.Message {
	if c.Hold == store.Owned {
		return message.Message{}
	}
	return message.New(code, cmp.Or(patterns[c.Hold], patterns["other"]),
		message.Time("at", c.Since), message.Words("code", string(c.Hold)))
}

// DataBanners stand on every page.
var DataBanners = map[store.Hold]string{
	store.OwnedByAnother: "Read only: another shardboard owns the data directory. Sign in, plan changes and change settings at that one.",
	store.OwnerGone: "Read only: the other shardboard that owned the data directory has stopped (noticed at {at}). " +
		"Nobody can sign in or change anything, and no alert is sent, until an admin lets this one take over or the other one is started again.",
	store.Vanished: "Nothing can be stored: the data directory or a file in it was moved, deleted or replaced while shardboard was running " +
		"(noticed at {at}). What was stored shortly before may be lost. Put the same directory back (a copy is not the same), " +
		"or restart shardboard. The log has the path.",
	store.Unreadable: "Nothing is stored: the data directory cannot be checked (since {at}), so shardboard cannot tell whether it is " +
		"still the same one. The log has the cause. shardboard tries again every few seconds.",
	store.Unreachable: "Nothing can be stored: the database of shardboard does not answer (since {at}). Sign-in, plans and settings do " +
		"not work, " +
		"and no run sends a command, until it does. The log has the cause. shardboard tries again all the time.",
	"other": "Nothing can be stored now ({code}).",
}

// readOnlyReasons stand beside what is not offered.
var readOnlyReasons = map[store.Hold]string{
	store.OwnedByAnother: "Another shardboard owns the data directory; changes are made there.",
	store.OwnerGone:      "This shardboard is read-only until an admin lets it take over the data directory.",
	store.Vanished:       "Nothing can be stored: the data directory was moved or deleted.",
	store.Unreadable:     "Nothing can be stored: the data directory cannot be checked.",
	store.Unreachable:    "Nothing can be stored: the database of shardboard does not answer.",
	"other":              "Nothing can be stored now ({code}).",
}

// NoSignInReasons stand on the sign-in page.
var NoSignInReasons = map[store.Hold]string{
	store.OwnedByAnother: "Another shardboard owns the data directory, so nobody can sign in here. Sign in at the other one.",
	store.OwnerGone: "The shardboard that owned the data has stopped, so nobody can sign in here. Start that one again, or restart " +
		"this one. An admin who is still signed in here, or who has a token (shardboard takeover), can let this one take over.",
	store.Vanished: "The data directory was moved or deleted while shardboard was running, so nobody can sign in until it is back " +
		"or shardboard is restarted.",
	store.Unreadable:  "The data directory cannot be checked, so nobody can sign in now. The log has the cause.",
	store.Unreachable: "The database of shardboard does not answer, so nobody can sign in now. The log has the cause.",
	"other":           "Nobody can sign in now ({code}).",
}
