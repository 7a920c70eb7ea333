package audit_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/store/keyfile"
)

// runKeeper runs a keeper until stop is called.
func runKeeper(t *testing.T, m *memory, o audit.Options) (k *audit.Keeper, stop func()) {
	t.Helper()
	k = audit.NewKeeper(m, o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- k.Run(ctx) }()
	return k, func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

func entry() store.AuditEntry {
	return store.AuditEntry{At: time.Now(), What: "login.ok", Outcome: "ok"}
}

func TestNewRecordsAreSignedEveryMinuteAndAtShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newChain(t, 3)
		var log bytes.Buffer
		k, stop := runKeeper(t, m, audit.Options{Key: newKey(t), Log: slog.New(slog.NewTextHandler(&log, nil))})
		synctest.Wait()
		if m.headCount() != 1 {
			t.Fatal("the record was not signed at start; heads:", m.headCount())
		}
		time.Sleep(10 * time.Minute)
		if m.headCount() != 1 {
			t.Fatal("the keeper signed without new records; heads:", m.headCount())
		}
		for want := 2; want < 5; want++ {
			must.Do(t, must.Err(m.Append(t.Context(), entry())))
			time.Sleep(time.Minute)
			synctest.Wait()
			if m.headCount() != want {
				t.Fatal(m.headCount(), want)
			}
		}
		must.Do(t, must.Err(m.Append(t.Context(), entry())))
		stop()
		st := k.State()
		expect.That(t, m.headCount() == 5 && st.Head.Seq == 7 && st.End.Seq == 7 && st.Break == nil && st.Err == nil,
			"unexpected number of heads %d, state %+v", m.headCount(), st)
		rep := verify(t, m.records, audit.Expect{Heads: m.heads, Key: st.Key})
		expect.That(t, rep.Break == nil && rep.Head.Seq == 7, "%v", rep.Break)
		if text := log.String(); strings.Count(text, "audit head") != 5 || !strings.Contains(text, "seq=7") || !strings.Contains(text, st.Key) {
			t.Error(text)
		}
	})
}

func TestNothingIsReportedVerifiedBeforeItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newChain(t, 3)
		m.fails = errors.New("disk gone")
		k, stop := runKeeper(t, m, audit.Options{Key: newKey(t)})
		defer stop()
		if st := audit.NewKeeper(m, audit.Options{}).State(); !st.At.IsZero() || st.Key != "" {
			t.Errorf("unexpected state: %+v", st)
		}
		synctest.Wait()
		if st := k.State(); !st.At.IsZero() || st.Err == nil || m.headCount() != 0 {
			t.Errorf("unexpected state: %+v", st)
		}
		m.mu.Lock()
		m.fails = nil
		m.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if st := k.State(); st.End.Seq != 3 || st.Err != nil || st.Whole.IsZero() || m.headCount() != 1 {
			t.Errorf("unexpected state: %+v", st)
		}
	})
}

func TestABrokenChainIsReportedAndNeverSigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newChain(t, 10)
		m.records[4].Outcome = "refused"
		var log bytes.Buffer
		k, stop := runKeeper(t, m, audit.Options{Key: newKey(t), Log: slog.New(slog.NewTextHandler(&log, nil))})
		time.Sleep(10 * time.Minute)
		stop()
		st := k.State()
		if st.Break == nil || st.Break.Seq != 5 || st.End.Seq != 4 || m.headCount() != 0 || !st.Whole.IsZero() {
			t.Errorf("%+v, %d heads", st, m.headCount())
		}
		expect.Equal(t, strings.Count(log.String(), "level=ERROR"), 1, "errors: %s", &log)
	})
}

// An attacker with the data directory cuts the record and removes the heads too.
func TestTheWitnessDetectsACutThatRemovedTheHeads(t *testing.T) {
	dir := t.TempDir()
	witness, err := audit.WitnessOf(filepath.Join(dir, "audit.key"), filepath.Join(dir, "data"))
	must.Do(t, err)
	synctest.Test(t, func(t *testing.T) {
		o := audit.Options{Key: newKey(t), Witness: witness}
		m := newChain(t, 10)
		_, stop := runKeeper(t, m, o)
		stop()
		m.heads, m.records = nil, m.records[:6]
		k, stop := runKeeper(t, m, o)
		stop()
		if st := k.State(); st.Break == nil || st.Break.Code != audit.Cut || st.Break.Seq != 10 || st.Break.Found != 6 {
			t.Errorf("unexpected state: %+v", st)
		}
		again := newChain(t, 12) // another chain of the same length
		again.records = again.records[:0]
		for range 12 {
			must.Do(t, must.Err(again.Append(t.Context(), entry())))
		}
		k, stop = runKeeper(t, again, o)
		stop()
		if st := k.State(); st.Break == nil || st.Break.Code != audit.Rebuilt {
			t.Errorf("unexpected state: %+v", st)
		}
	})
}

func TestAChangedKeyIsReportedAndSigningContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newChain(t, 4)
		first := newKey(t)
		_, stop := runKeeper(t, m, audit.Options{Key: first})
		stop()
		k, stop := runKeeper(t, m, audit.Options{Key: newKey(t)})
		stop()
		st := k.State()
		if st.Other != audit.Fingerprint(first.Public().(ed25519.PublicKey)) || st.Break != nil || m.headCount() != 2 ||
			audit.Fingerprint(m.heads[1].Key) != st.Key {
			t.Errorf("%+v, %d heads", st, m.headCount())
		}
	})
}

func TestTheSigningKeyIsCreatedOnceAndPrivate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config", "audit.key")
	first, err := keyfile.Audit.Open(path, filepath.Join(dir, "data"))
	must.Do(t, err)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info.Mode(), err)
	}
	again, err := keyfile.Audit.Open(path, filepath.Join(dir, "data"))
	must.That(t, err == nil && first.Equal(again), "the second call returned another key %v", err)
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o601, 0o644} {
		must.Do(t, os.Chmod(path, mode))
		refused.With(t, must.Err(keyfile.Audit.Open(path, "")), fault.Invalid, "by others", "%o", mode)
	}
}

func TestAKeyInTheDataDirectoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	must.Do(t, os.MkdirAll(data, 0o700))
	must.Do(t, os.Symlink(data, filepath.Join(dir, "link")))
	for path, refused := range map[string]bool{
		filepath.Join(data, "audit.key"): true, filepath.Join(data, "a", "b.key"): true, filepath.Join(dir, "link", "audit.key"): true,
		filepath.Join(data, "..", "data", "audit.key"): true, filepath.Join(dir, "database.key"): false,
		filepath.Join(data, "..", "x.key"): false,
	} {
		_, err := keyfile.Audit.Open(path, data)
		expect.Equal(t, fault.Of(err) == fault.Invalid, refused, "%s: unexpected error: %v", path, err)
	}
	expect.NoError(t, must.Err(keyfile.Audit.Open(filepath.Join(dir, "other.key"), filepath.Join(dir, "link"))), "Open")
}

func TestAnInvalidKeyFileIsRefusedAndKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.key")
	for _, text := range []string{"", "secret", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		refused.As(t, must.Err(keyfile.Audit.Open(path, "")), fault.Invalid, "%q: unexpected error", text)
		if kept, err := os.ReadFile(path); err != nil || string(kept) != text {
			t.Errorf("%q was replaced by %q", text, kept)
		}
	}
	refused.As(t, must.Err(keyfile.Audit.Open("/proc/nowhere/audit.key", "")), fault.Unavailable, "Open")
}
