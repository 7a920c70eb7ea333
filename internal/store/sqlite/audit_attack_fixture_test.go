package sqlite

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// tamperFixture is a data directory whose record is checked by a keeper, as in a running
// server, and another program that opens the same file.
type tamperFixture struct {
	t       testing.TB
	db      *DB
	keeper  *audit.Keeper
	witness audit.Witness
	key     ed25519.PrivateKey
	log     bytes.Buffer
	stop    func()
}

const attackedRecords = 30

// templateDatabase returns the closed database file of a directory with attackedRecords
// records. Creating it again for each case would take most of the time.
func templateDatabase(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	a := &tamperFixture{t: t, db: open(t, dir)}
	a.append(attackedRecords)
	must.Do(t, a.db.Close())
	return filepath.Join(dir, FileName)
}

// openCopy opens a copy of the template in dir, or the database that dir already has.
func openCopy(t *testing.T, dir, template string, key ed25519.PrivateKey) *tamperFixture {
	t.Helper()
	data := filepath.Join(dir, "data")
	if _, err := os.Stat(data); err != nil {
		text, err := os.ReadFile(template)
		must.Do(t, errors.Join(err, os.Mkdir(data, 0o700), os.WriteFile(filepath.Join(data, FileName), text, 0o600)))
	}
	a := &tamperFixture{t: t, key: key, db: open(t, data)}
	var err error
	a.witness, err = audit.WitnessOf(filepath.Join(dir, "audit.key"), filepath.Join(dir, "data"))
	must.Do(t, err)
	return a
}

// serve starts the keeper; stop stops it like a server's shutdown.
func (a *tamperFixture) serve() {
	a.keeper = audit.NewKeeper(a.db, audit.Options{Key: a.key, Witness: a.witness, Log: slog.New(slog.NewTextHandler(&a.log, nil))})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.keeper.Run(ctx) }()
	a.stop = func() {
		cancel()
		<-done
	}
	synctest.Wait()
}

func (a *tamperFixture) append(n int) {
	a.t.Helper()
	ctx := context.Background()
	err := a.db.change(ctx, func(tx *sql.Tx) error { // one commit for all is faster
		for range n {
			if _, err := a.db.in(tx).Append(ctx, store.AuditEntry{At: time.Now(), What: "login.ok", By: "user:1"}); err != nil {
				return err
			}
		}
		return nil
	})
	must.Do(a.t, err)
}

// runSQL runs statements like another program that has the file.
func (a *tamperFixture) runSQL(statements ...string) {
	a.t.Helper()
	other := must.Get(sql.Open("sqlite", a.db.file.path))
	defer other.Close()
	for _, s := range statements {
		if _, err := other.Exec(s); err != nil {
			a.t.Fatal(s, err)
		}
	}
}

// insertRecord writes a record with a valid hash without the program. The hashes use no
// secret, so anybody who has the file can compute them.
func (a *tamperFixture) insertRecord(after int64, verb string) {
	a.t.Helper()
	prev := audit.Begin()
	if after > 0 {
		rows, err := a.db.AuditRecords(context.Background(), after-1, 1)
		must.That(a.t, err == nil && len(rows) == 1, "%v %v", rows, err)
		prev = rows[0].Hash
	}
	r, canonical, err := audit.Next(store.AuditEntry{At: time.Now(), What: "login.ok", By: "user:evil"}, after, prev)
	must.Do(a.t, err)
	a.runSQL(fmt.Sprintf(`%s INTO audit VALUES (%d, x'%x', x'%x', x'%x')`, verb, r.Seq, canonical, r.Prev, r.Hash))
}

func (a *tamperFixture) write(name, text string) {
	a.t.Helper()
	must.Do(a.t, os.WriteFile(name, []byte(text), 0o600))
}

// saveHead saves a head, signed with the server's key, for a record that never existed.
func (a *tamperFixture) saveHead(seq int64) {
	h := audit.Sign(a.key, audit.Point{Seq: seq, Hash: bytes.Repeat([]byte{1}, 32)}, time.Now())
	a.runSQL(fmt.Sprintf(`INSERT INTO audit_heads VALUES (%d, x'%x', %d, x'%x', x'%x')`, h.Seq, h.Hash, h.At.UnixMilli(), h.Key, h.Signature))
}

func (a *tamperFixture) editHead(change func(*store.AuditHead)) {
	a.t.Helper()
	h, err := a.witness.Head()
	must.That(a.t, err == nil && h != nil, "%v %v", h, err)
	change(h)
	must.Do(a.t, a.witness.Save(*h))
}

func attackKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	must.Do(t, err)
	return key
}
