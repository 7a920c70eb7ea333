package audit

import (
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
	every     = time.Minute    // between two looks at the end
	wholeFrom = 24 * time.Hour // after this long the whole chain is read again
	lastWait  = 3 * time.Second
)

// State is what the keeper knows of the chain. Nothing is claimed that was not
// done: while At is zero, nothing was verified yet.
type State struct {
	End   Point            // records up to here were read and follow each other
	At    time.Time        // when End was reached
	Whole time.Time        // when the chain was last read from its first record
	Break *Break           // what is wrong; from then on no head is signed
	Err   error            // why the last look could not be finished; nil if it was
	Head  *store.AuditHead // newest signed head; nil before the first
	Key   string           // fingerprint of the key in use; "" when this process does not sign
	Other string           // fingerprint of the key that signed the newest head, when it was another
}

// Options make a keeper. The zero value keeps no witness and signs nothing.
type Options struct {
	Key     ed25519.PrivateKey // nil: verify only
	Witness Witness
	Log     *slog.Logger     // nil discards
	Now     func() time.Time // nil is time.Now
}

// Keeper goes over the chain at start and once a day, over what is new every
// minute, and then signs the end if it moved. It never signs what it has not
// verified, so a signature says that the chain was in order.
type Keeper struct {
	store store.Audit
	o     Options
	state atomic.Pointer[State]
}

// NewKeeper starts nothing.
func NewKeeper(s store.Audit, o Options) *Keeper {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
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

// State is the newest; safe for concurrent use.
func (k *Keeper) State() State { return *k.state.Load() }

// Run keeps the chain until ctx ends; then it signs once more what was written
// since. It fails never: a record that cannot be read is a state.
func (k *Keeper) Run(ctx context.Context) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	k.look(ctx)
	for {
		select {
		case <-tick.C:
			k.look(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWait)
			k.look(last)
			cancel()
			return ctx.Err()
		}
	}
}

// look verifies what is new and signs its end.
func (k *Keeper) look(ctx context.Context) {
	st := k.State()
	if st.Break != nil {
		return // nothing that follows a break can be trusted; a restart looks again
	}
	was := st.Err
	st.Err = k.verify(ctx, &st)
	if st.Err == nil && st.Break == nil {
		st.Err = k.sign(ctx, &st)
	}
	k.state.Store(&st)
	switch {
	case st.Break != nil:
		k.o.Log.Error("the audit record is not what it was", "what", st.Break.Error(), "seq", st.Break.Seq, "code", st.Break.Code)
	case st.Err != nil && !errors.Is(st.Err, context.Canceled) && (was == nil || was.Error() != st.Err.Error()):
		k.o.Log.Warn("the audit record could not be verified and signed; trying again", "err", st.Err)
	}
}

func (k *Keeper) verify(ctx context.Context, st *State) error {
	now := k.o.Now()
	x := Expect{After: st.End}
	whole := st.Whole.IsZero() || elapsed(st.Whole, now, wholeFrom)
	if whole {
		x.After = Point{}
		heads, err := k.heads(ctx, st)
		if err != nil {
			return err
		}
		x.Heads = heads
	}
	rep, err := Verify(Records(ctx, k.store, x.After.Seq), x)
	if err != nil {
		return err
	}
	st.End, st.At, st.Break = rep.End, k.o.Now(), rep.Break
	if whole && st.Break == nil {
		st.Whole = st.At
	}
	return nil
}

// heads are what the whole chain is held against: the newest head of the store
// and the one that the witness saw. A key that is not ours is no break: keys
// are changed. It is said, because somebody else may have changed it.
func (k *Keeper) heads(ctx context.Context, st *State) ([]store.AuditHead, error) {
	var out []store.AuditHead
	kept, err := k.store.LastHead(ctx)
	if err != nil {
		return nil, err
	}
	if kept != nil {
		out = append(out, *kept)
		st.Head = kept
		if key := Fingerprint(kept.Key); st.Key != "" && key != st.Key {
			st.Other = key
			k.o.Log.Warn("the last head of the audit record was signed by another key; unless you changed the key, somebody else did", "seq", kept.Seq, "key", key, "ours", st.Key)
		}
	}
	seen, err := k.o.Witness.Head()
	if err != nil {
		return nil, err
	}
	if seen != nil {
		out = append(out, *seen)
	}
	return out, nil
}

// sign signs the verified end if it moved or if our key has not signed it.
func (k *Keeper) sign(ctx context.Context, st *State) error {
	if k.o.Key == nil || st.End.Seq == 0 || st.Head != nil && st.Head.Seq == st.End.Seq && Fingerprint(st.Head.Key) == st.Key {
		return nil
	}
	h := Sign(k.o.Key, st.End, k.o.Now())
	// The witness first: a head that the store did not get is signed anew, one
	// that the witness did not get would not be.
	if err := k.o.Witness.Save(h); err != nil {
		return err
	}
	if err := k.store.SaveHead(ctx, h); err != nil {
		return err
	}
	st.Head = &h
	// The names are those of the API, so that a line of the log is a head for
	// `shardboard audit verify --head`.
	k.o.Log.Info("audit head", "seq", h.Seq, "hash", hex.EncodeToString(h.Hash), "at", h.At.Format(atFormat),
		"fingerprint", st.Key, "key", base64.StdEncoding.EncodeToString(h.Key), "signature", base64.StdEncoding.EncodeToString(h.Signature))
	return nil
}

// atFormat keeps the milliseconds that the signature covers.
const atFormat = "2006-01-02T15:04:05.000Z07:00"
