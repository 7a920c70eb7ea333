package audit

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"shardboard/internal/store"
)

const (
	checkInterval     = time.Minute     // between two checks
	lostCheckInterval = 2 * time.Second // while the data directory is lost; such a check reads nothing
	lastCheckTimeout  = 3 * time.Second
)

// Options configure a Keeper. The zero value signs nothing and has no witness file.
type Options struct {
	Key     ed25519.PrivateKey // nil: verify only
	Witness Witness
	Log     *slog.Logger     // nil discards
	Now     func() time.Time // nil is time.Now
	// Leads reports whether this process may sign now; nil: always. Processes that share a store sign
	// in turns, so a head that another one signed after the witness file was written is expected.
	Leads func() bool
}

// Keeper verifies the whole chain at start. Every minute it verifies the end and what follows it,
// rereads a part of the old records, and signs the end if it moved. It signs only what it has
// verified, so a signature means that the chain was intact.
type Keeper struct {
	store store.Audit
	o     Options
	state atomic.Pointer[State]

	// The fields below are used only by the goroutine of Run.
	lastSaved  *store.AuditHead // head that this process saved last; nil before the first
	round      Point            // old records were reread up to here; zero: a new round begins
	roundStart time.Time        // when that round began
	full       bool             // verify everything at the next check
}

// NewKeeper starts nothing.
func NewKeeper(s store.Audit, o Options) *Keeper {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	k := &Keeper{store: s, o: o}
	st := State{}
	if o.Key != nil {
		st.Key = Fingerprint(o.Key.Public().(ed25519.PublicKey))
	}
	k.state.Store(&st)
	return k
}

// State returns the newest state; safe for concurrent use.
func (k *Keeper) State() State { return *k.state.Load() }

// Run checks the chain until ctx ends, and then once more to sign what was written last. It never
// fails: an unreadable record is part of the state.
func (k *Keeper) Run(ctx context.Context) error {
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	k.check(ctx)
	for {
		var back <-chan time.Time // blocks unless the data directory is lost
		if errors.Is(k.State().Err, store.ErrLost) {
			back = time.After(lostCheckInterval)
		}
		select {
		case <-tick.C:
			k.check(ctx)
		case <-back:
			k.check(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastCheckTimeout)
			k.check(last)
			cancel()
			return ctx.Err()
		}
	}
}

// check verifies what is new and what is due, and signs the end.
func (k *Keeper) check(ctx context.Context) {
	st := k.State()
	if st.Break != nil {
		return // nothing after a break can be trusted; a restart verifies again
	}
	was := st
	if st.Stage, st.Err = k.verify(ctx, &st); st.Err == nil && st.Break == nil {
		st.Stage, st.Err = k.sign(ctx, &st)
	}
	switch {
	case st.Err == nil:
		st.Stage, st.Fails = "", 0
	case errors.Is(st.Err, context.Canceled): // the process is ending, which is no failure of the record
	default:
		st.Fails++
		// A table or directory that was missing is verified from the start when it comes back.
		k.full = k.full || errors.Is(st.Err, store.ErrAuditDamaged) || errors.Is(st.Err, store.ErrLost)
	}
	k.state.Store(&st)
	k.report(was, st)
}

// report logs what changed since the last check.
func (k *Keeper) report(was, st State) {
	switch {
	case st.Break != nil:
		k.o.Log.Error("the audit record was changed by something other than this program", "what", st.Break.Error(),
			"seq", st.Break.Seq, "code", st.Break.Code)
	case st.Err == nil:
		if was.Trouble() != nil {
			k.o.Log.Info("the audit record is verified again", "seq", st.End.Seq)
		}
	case errors.Is(st.Err, context.Canceled):
	case st.Trouble() != nil && was.Trouble() == nil:
		k.o.Log.Error("the audit record cannot be relied on", "code", st.Trouble().Code, "what", st.Trouble().Text, "err", st.Err)
	case was.Err == nil || was.Err.Error() != st.Err.Error():
		k.o.Log.Warn("the audit record could not be verified and signed; trying again", "err", st.Err)
	}
}

// sign signs the verified end if it moved or if this key has not signed it.
func (k *Keeper) sign(ctx context.Context, st *State) (Stage, error) {
	signed := st.Head != nil && st.Head.Seq == st.End.Seq && Fingerprint(st.Head.Key) == st.Key
	if k.o.Key == nil || st.End.Seq == 0 || signed || k.o.Leads != nil && !k.o.Leads() {
		return "", nil
	}
	h := Sign(k.o.Key, st.End, k.o.Now())
	// The witness file is written first: a head missing in the store is signed again at the next
	// check, but one missing in the witness file would not be.
	if err := k.o.Witness.Save(h); err != nil {
		return StageWitness, err
	}
	if err := k.store.SaveHead(ctx, h); err != nil {
		return StageSign, err
	}
	st.Head, k.lastSaved = &h, &h
	// The field names are those of the API, so that a log line is valid input for `shardboard audit
	// verify --head`.
	k.o.Log.Info("audit head", "seq", h.Seq, "hash", hex.EncodeToString(h.Hash), "at", h.At.Format(atFormat),
		"fingerprint", st.Key, "key", base64.StdEncoding.EncodeToString(h.Key), "signature", base64.StdEncoding.EncodeToString(h.Signature))
	return "", nil
}

// atFormat keeps the milliseconds that the signature covers.
const atFormat = "2006-01-02T15:04:05.000Z07:00"
