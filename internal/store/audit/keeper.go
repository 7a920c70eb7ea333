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
	every     = time.Minute     // between two checks
	lostEvery = 2 * time.Second // and while the data directory is lost, which costs no read
	lastWait  = 3 * time.Second
)

// Options make a keeper. The zero value keeps no witness and signs nothing.
type Options struct {
	Key     ed25519.PrivateKey // nil: verify only
	Witness Witness
	Log     *slog.Logger     // nil discards
	Now     func() time.Time // nil is time.Now
}

// Keeper verifies the whole chain at start. Every minute it checks that the end
// is still there and what follows it, reads a part of the old records again, and
// signs the end if it moved. It never signs what it has not verified, so a
// signature says that the chain was in order.
type Keeper struct {
	store store.Audit
	o     Options
	state atomic.Pointer[State]

	// Of the goroutine in Run alone.
	saved  *store.AuditHead // the head that this process saved last; nil before
	round  Point            // old records were read again up to here; zero: the next round begins
	begun  time.Time        // when that round began
	afresh bool             // read everything at the next check
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

// Run checks the chain until ctx ends; then it signs once more what was written
// since. It never fails: a record that cannot be read is a state.
func (k *Keeper) Run(ctx context.Context) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	k.look(ctx)
	for {
		var back <-chan time.Time // blocks unless the data directory is lost
		if errors.Is(k.State().Err, store.ErrLost) {
			back = time.After(lostEvery)
		}
		select {
		case <-tick.C:
			k.look(ctx)
		case <-back:
			k.look(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWait)
			k.look(last)
			cancel()
			return ctx.Err()
		}
	}
}

// look is one check: verify what is new and what is due, and sign the end.
func (k *Keeper) look(ctx context.Context) {
	st := k.State()
	if st.Break != nil {
		return // nothing that follows a break can be trusted; a restart looks again
	}
	was := st
	if st.Stage, st.Err = k.verify(ctx, &st); st.Err == nil && st.Break == nil {
		st.Stage, st.Err = k.sign(ctx, &st)
	}
	switch {
	case st.Err == nil:
		st.Stage, st.Fails = "", 0
	case errors.Is(st.Err, context.Canceled): // the process ends: not a failure of the record
	default:
		st.Fails++
		// What comes back is not believed.
		k.afresh = k.afresh || errors.Is(st.Err, store.ErrAuditDamaged) || errors.Is(st.Err, store.ErrLost)
	}
	k.state.Store(&st)
	k.report(was, st)
}

// report logs what changed since the last check.
func (k *Keeper) report(was, st State) {
	switch {
	case st.Break != nil:
		k.o.Log.Error("the audit record was changed by something other than this program", "what", st.Break.Error(), "seq", st.Break.Seq, "code", st.Break.Code)
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

// sign signs the verified end if it moved or if our key has not signed it.
func (k *Keeper) sign(ctx context.Context, st *State) (Stage, error) {
	if k.o.Key == nil || st.End.Seq == 0 || st.Head != nil && st.Head.Seq == st.End.Seq && Fingerprint(st.Head.Key) == st.Key {
		return "", nil
	}
	h := Sign(k.o.Key, st.End, k.o.Now())
	// The witness comes first: a head that the store did not get is signed again
	// at the next check, but one that the witness did not get would not be.
	if err := k.o.Witness.Save(h); err != nil {
		return StageWitness, err
	}
	if err := k.store.SaveHead(ctx, h); err != nil {
		return StageSign, err
	}
	st.Head, k.saved = &h, &h
	// The names are those of the API, so that a line of the log is a head for
	// `shardboard audit verify --head`.
	k.o.Log.Info("audit head", "seq", h.Seq, "hash", hex.EncodeToString(h.Hash), "at", h.At.Format(atFormat),
		"fingerprint", st.Key, "key", base64.StdEncoding.EncodeToString(h.Key), "signature", base64.StdEncoding.EncodeToString(h.Signature))
	return "", nil
}

// atFormat keeps the milliseconds that the signature covers.
const atFormat = "2006-01-02T15:04:05.000Z07:00"
