package mongodb

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/store/archive"
	"shardboard/internal/store/sqlite"
)

// fill stores something of every kind, with values that are hard to copy.
func fill(t *testing.T, s store.Store) {
	t.Helper()
	ctx := t.Context()
	at := time.Date(2026, 3, 1, 12, 0, 0, 123_000_000, time.UTC)
	e := func(what string) store.AuditEntry {
		return store.AuditEntry{At: at, By: "user:1", What: what, Outcome: "ok"}
	}
	odd := "문서\x00'; \xff\xfe\u202e"
	var failed error
	do := func(err error) { failed = errors.Join(failed, err) }
	do(s.SetSetting(ctx, "a", odd))
	do(s.CreateUser(ctx, store.User{ID: "1", Name: "anna", Role: "admin", Password: "$argon2id$x", Created: at}, e("user")))
	do(s.CreateUser(ctx, store.User{ID: "2", Name: "glass", Role: "admin", BreakGlass: true, Disabled: true, Created: at,
		LastLogin: at}, e("user")))
	do(s.CreateSession(ctx, store.Session{ID: "s1", Hash: []byte{1}, Subject: "user:1", Role: "admin", Created: at, Used: at,
		Expires: at}, "", e("login")))
	do(s.CreateSession(ctx, store.Session{ID: "s2", Hash: []byte{2}, Subject: "user:1", Role: "admin", Created: at, Used: at,
		Expires: at}, "", e("login")))
	do(s.RotateSession(ctx, "s2", store.Session{ID: "s3", Hash: []byte{3}, Subject: "user:1", Role: "admin", Former: at}, e("rotate")))
	do(s.CreateToken(ctx, store.Token{ID: "t", Hash: []byte{9}, Name: "ci", Role: "viewer", Created: at, Expires: at}, e("token")))
	for i := range 3 {
		do(s.SavePlan(ctx, store.PlanRecord{ID: fmt.Sprint("p", i), Cluster: "c", Kind: "split", Made: at, Expires: at, Body: []byte{0, 255}}))
	}
	do(s.AddApproval(ctx, store.ApprovalRecord{Plan: "p0", Cluster: "c", State: store.ApprovalAsked, Until: at, Body: []byte{0, 255}}))
	for i := range 2 {
		do(s.AddRun(ctx, store.RunRecord{ID: fmt.Sprint("r", 9-i), Plan: fmt.Sprint("p", i), Cluster: "c", Open: i == 0, Started: at,
			Body: []byte("{}")}))
	}
	do(s.SaveRun(ctx, store.RunRecord{ID: "r8", State: "ok", Ended: at, Body: []byte{}}))
	do(s.AddIntent(ctx, store.IntentRecord{Run: "r9", Step: 1, At: at, DB: "admin", Command: []byte{5, 0, 0, 0, 0}}))
	_, err := s.DropPlans(ctx, at.Add(time.Hour), 5)
	do(err)
	do(s.SaveRunOutcome(ctx, "c", store.RunOutcome{Run: "r9", At: at, Open: true, Body: []byte("x")}))
	large := bytes.Repeat([]byte("0123456789abcdef"), 5_000/16)
	do(s.AppendHistory(ctx, "c",
		[]store.HistoryEntry{{At: at, Stream: "frame", Whole: true, Body: large}, {At: at, Stream: "frame", Body: []byte{}}},
		[]store.HistoryEvent{{ID: "e1", At: at, What: "split", NS: "a.b"},
			{ID: "e2", At: at, What: "move", NS: "a.b", Failed: true, Details: []byte{5}}}))
	do(s.NoteWatched(ctx, "c", at, time.Minute))
	do(s.SaveHeat(ctx, "c", store.HeatChange{Axes: []store.HeatAxis{{Picture: "p", ID: 1, Body: []byte{1}}},
		Columns: []store.HeatColumn{{Picture: "p", At: at, Step: time.Minute, Axis: 1, Body: []byte{2}}}}))
	for _, id := range []string{"b", "a"} {
		do(s.SaveSurvey(ctx, "c", store.Survey{ID: id, At: at, Head: []byte("h"), Body: []byte("b")}))
	}
	do(s.SaveHolding(ctx, "c", store.Holding{NS: "a.b", At: at, Body: []byte("h")}))
	do(s.Take(ctx, "c", store.Take{ID: "d", By: "user:1", Note: odd, At: at}, e("take")))
	do(s.Dismiss(ctx, "c", store.Dismissal{ID: "d", By: "user:1", Reason: odd, At: at}, e("dismiss")))
	do(s.SaveProblems(ctx, "c", []store.ProblemRecord{{ID: "p", Since: at, Body: []byte("{}")},
		{ID: "q", Since: at, Until: at.Add(time.Hour), Body: []byte("{}")}}))
	do(s.NoteJudged(ctx, "c", at, time.Minute, []byte("{}")))
	do(s.AddSilence(ctx, "c", store.Silence{ID: "x", Rule: "jumbo", At: at, Until: at.Add(time.Hour)}, e("silence")))
	do(s.SaveAlerts(ctx, "c", store.AlertChange{Saved: []store.AlertRecord{{ID: "a", At: at, Body: []byte("{}")}}}))
	do(s.SaveDelivery(ctx, "c", store.Delivery{Target: "ops", At: at, Code: "ok", Status: 200, Test: true}))
	do(s.AddWatch(ctx, "c", store.Watch{Kind: "chunk", Subject: "x", By: "user:1", At: at}))
	do(s.SaveHead(ctx, store.AuditHead{Seq: 1, Hash: []byte{1}, At: at, Key: []byte{2}, Signature: []byte{3}}))
	must.That(t, failed == nil, "%v", failed)
}

// rows are all rows of a store, by table.
func rows(t *testing.T, s store.RowStore) map[string][]store.Row {
	t.Helper()
	out := map[string][]store.Row{}
	err := s.Snapshot(t.Context(), func(r store.RowReader) error {
		for _, table := range store.Tables() {
			if err := r.ReadRows(t.Context(), table, func(row store.Row) error {
				for i, v := range row { // comparing megabytes takes long
					if b, ok := v.([]byte); ok && len(b) > 1000 {
						row[i] = fmt.Sprintf("%d bytes, %x", len(b), sha256.Sum256(b))
					}
				}
				out[table.Name] = append(out[table.Name], row)
				return nil
			}); err != nil {
				return err
			}
			if len(out[table.Name]) == 0 {
				return fmt.Errorf("the test has no row of %s", table.Name)
			}
		}
		return nil
	})
	must.Do(t, err)
	return out
}

func expectRows(t *testing.T, where string, want map[string][]store.Row, s store.RowStore) {
	t.Helper()
	expect.Equal(t, cmp.Diff(want, rows(t, s)), "", "%s", where)
}

func directory(t *testing.T) *sqlite.DB {
	t.Helper()
	db := must.Get(sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "data")))
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// filled is a directory with everything, whose heads are not signed: Copy verifies signatures.
func filled(t *testing.T) *sqlite.DB {
	t.Helper()
	db := directory(t)
	fill(t, db)
	return db
}

func TestCopyToMongoDBAndBackIsEqualRowByRow(t *testing.T) {
	c, first := server(t), filled(t)
	want := rows(t, first)
	must.Do(t, first.SetSetting(t.Context(), store.InstallationSetting, "first")) // the only row that is not copied
	there, back := open(t, c, database(t)), directory(t)
	counts, err := archive.Copy(t.Context(), unsigned{first}, unsigned{there})
	must.Do(t, err)
	for _, n := range counts {
		expect.Equal(t, n.Rows, len(want[n.Table]), "rows of %s", n.Table)
	}
	expectRows(t, "in MongoDB", want, there)
	must.Do(t, must.Err(archive.Copy(t.Context(), unsigned{there}, unsigned{back})))
	expectRows(t, "and back", want, back)
	// Both go on where the first one was.
	for _, s := range []store.Store{there, back} {
		if r, err := s.Append(t.Context(), store.AuditEntry{What: "x"}); err != nil || r.Seq != int64(len(want["audit"]))+1 {
			t.Errorf("%+v, %v", r, err)
		}
		expect.NoError(t, s.SavePlan(t.Context(), store.PlanRecord{ID: "new", Cluster: "c", Body: []byte{1}}), "SavePlan")
		if err := s.AddRun(t.Context(), store.RunRecord{ID: "new", Plan: "new", Cluster: "c", Body: []byte{1}}); err != nil {
			t.Error(err)
		}
		if r, err := s.RunRecord(t.Context(), "new"); err != nil || r.Seq != 3 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	_, err = archive.Copy(t.Context(), unsigned{there}, unsigned{back})
	expect.That(t, fault.Of(err) == fault.Conflict && strings.Contains(err.Error(), "holds data already"),
		"into a store with data: %v", err)
}

// unsigned hides the head, which is not a valid one in these tests.
type unsigned struct{ store.RowStore }

func (unsigned) LastHead(context.Context) (*store.AuditHead, error) { return nil, nil }

func TestBackupOfEitherStoreIsRestoredInEither(t *testing.T) {
	c, first := server(t), filled(t)
	want := rows(t, first)
	path := filepath.Join(t.TempDir(), "backup")
	must.Do(t, must.Err(archive.Backup(t.Context(), first, path, "test")))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	refused.As(t, must.Err(archive.Backup(t.Context(), first, path, "test")), fault.Conflict, "over an existing file")
	there, back := open(t, c, database(t)), directory(t)
	must.Do(t, must.Err(restore(t.Context(), path, unsigned{there})))
	expectRows(t, "in MongoDB", want, there)
	second := filepath.Join(t.TempDir(), "backup")
	must.Do(t, must.Err(archive.Backup(t.Context(), there, second, "test")))
	must.Do(t, must.Err(restore(t.Context(), second, unsigned{back})))
	expectRows(t, "and in a directory", want, back)
}

// restore checks a backup and loads it.
func restore(ctx context.Context, path string, to store.RowStore) ([]archive.Count, error) {
	checked, err := archive.Check(ctx, path)
	if err != nil {
		return nil, err
	}
	return archive.Restore(ctx, checked, to)
}

func TestDamagedBackupIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	from := directory(t)
	for i := range 50 {
		must.Do(t, from.SetSetting(t.Context(), fmt.Sprint("s", i), strings.Repeat("x", i)))
	}
	path := filepath.Join(t.TempDir(), "backup")
	must.Do(t, must.Err(archive.Backup(t.Context(), from, path, "test")))
	good := must.Get(os.ReadFile(path))
	to := directory(t)
	for what, data := range map[string][]byte{
		"cut off": good[:len(good)/2], "without its end": good[:len(good)-4], "empty": nil, "another file": []byte("hello"),
		"changed": append(append(append([]byte{}, good[:len(good)/2]...), good[len(good)/2]^1), good[len(good)/2+1:]...),
	} {
		must.Do(t, os.WriteFile(path, data, 0o600))
		refused.As(t, must.Err(restore(t.Context(), path, to)), fault.Invalid, "%s", what)
	}
	must.Do(t, os.WriteFile(path, good, 0o600))
	expect.NoError(t, must.Err(restore(t.Context(), path, to)), "nothing was written, and yet")
}

// What is loaded is what was checked: another file that came meanwhile leaves a store that cannot be used.
func TestBackupThatChangedAfterItsCheckIsNotUsed(t *testing.T) {
	from, path, dir := directory(t), filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "data")
	back := func() {
		must.Do(t, must.Err(archive.Backup(t.Context(), from, path, "test")))
	}
	back()
	checked, err := archive.Check(t.Context(), path)
	must.Do(t, err)
	must.Do(t, os.Remove(path))
	must.Do(t, from.SetSetting(t.Context(), "new", "value"))
	back()
	to := must.Get(sqlite.Open(t.Context(), dir))
	refused.With(t, must.Err(archive.Restore(t.Context(), checked, to)), fault.Conflict, "changed", "Restore")
	must.Do(t, to.Close())
	if _, err := sqlite.Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "did not complete") {
		t.Error(err)
	}
}

// rewritten is a backup with another text in it, and a checksum that fits.
func rewritten(t *testing.T, backup []byte, was, is string) []byte {
	t.Helper()
	in := must.Get(gzip.NewReader(bytes.NewReader(backup)))
	text, err := io.ReadAll(in)
	must.Do(t, err)
	must.That(t, bytes.Contains(text, []byte(was)), "the backup has no %s", was)
	text = bytes.Replace(text, []byte(was), []byte(is), 1)
	end := bytes.LastIndex(text, []byte(`{"rows"`))
	sum := sha256.Sum256(text[:end])
	footer := regexp.MustCompile(`"sha256":"[0-9a-f]*"`).ReplaceAll(text[end:], fmt.Appendf(nil, `"sha256":"%x"`, sum))
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	must.Do(t, must.Err(zip.Write(append(text[:end:end], footer...))))
	must.Do(t, zip.Close())
	return out.Bytes()
}

// Whoever can write a backup file must not get values into a store that no shardboard writes.
func TestBackupWithValuesThatNobodyWritesIsRefused(t *testing.T) {
	from := directory(t)
	must.Do(t, from.CreateUser(t.Context(), store.User{ID: "anna-id", Name: "anna", Role: "viewer"}, store.AuditEntry{What: "x"}))
	path := filepath.Join(t.TempDir(), "backup")
	must.Do(t, must.Err(archive.Backup(t.Context(), from, path, "test")))
	good := must.Get(os.ReadFile(path))
	to := directory(t)
	for what, x := range map[string][2]string{
		"an unknown role": {`"anna","viewer"`, `"anna","superuser"`}, "no name": {`"anna","viewer"`, `null,"viewer"`},
		"no id": {`"anna-id","anna"`, `"","anna"`}, "no flag": {`"",0,0,`, `"",7,0,`},
	} {
		must.Do(t, os.WriteFile(path, rewritten(t, good, x[0], x[1]), 0o600))
		refused.As(t, must.Err(restore(t.Context(), path, unsigned{to})), fault.Invalid, "%s", what)
	}
	must.Do(t, os.WriteFile(path, rewritten(t, good, `"anna","viewer"`, `"anna","support"`), 0o600))
	expect.NoError(t, must.Err(restore(t.Context(), path, unsigned{to})), "what is written so")
}

// broken fails while a table is loaded.
type broken struct{ store.RowStore }

func (b broken) LoadRows(ctx context.Context, t store.Table, rows []store.Row) error {
	if t.Name == "runs" {
		return errors.New("the network is gone")
	}
	return b.RowStore.LoadRows(ctx, t, rows)
}

func TestStoreOfACopyThatFailedCannotBeOpened(t *testing.T) {
	c, from := server(t), filled(t)
	at, dir := database(t), filepath.Join(t.TempDir(), "data")
	there := open(t, c, at)
	back := must.Get(sqlite.Open(t.Context(), dir))
	for _, to := range []store.RowStore{there, back} {
		_, err := archive.Copy(t.Context(), unsigned{from}, unsigned{broken{to}})
		expect.That(t, err != nil && strings.Contains(fault.Text(err), "cannot be used"), "%s: %v", to.Place(), err)
		expect.NoError(t, to.Close(), "Close")
	}
	if _, err := Open(t.Context(), at, optionsOf(c)); fault.Of(err) != fault.Conflict ||
		!strings.Contains(fault.Text(err), "did not complete") {
		t.Errorf("MongoDB: %v", err)
	}
	again, err := sqlite.Open(t.Context(), dir)
	expect.That(t, err != nil && strings.Contains(err.Error(), "did not complete"), "directory: %v, %v", again, err)
}

func TestStoreInUseIsNotCopied(t *testing.T) {
	c, from, at := server(t), filled(t), database(t)
	running := open(t, c, at)
	second := open(t, c, at, func(o *Options) { o.Follow = true })
	_, err := archive.Copy(t.Context(), unsigned{from}, unsigned{second})
	refused.With(t, err, fault.Conflict, store.ProcessName(), "into a store that is led")
	if _, err := archive.Copy(t.Context(), running, directory(t)); fault.Of(err) != fault.Conflict {
		t.Errorf("from a store that another replica has open: %v", err)
	}
	// A backup does not mind.
	expect.NoError(t, must.Err(archive.Backup(t.Context(), running, filepath.Join(t.TempDir(), "b"), "test")), "Backup")
}

func serverOf(t *testing.T, version string) *simcluster.Cluster {
	t.Helper()
	c, err := simcluster.New(context.Background(), simcluster.Options{Empty: true, Still: true, ServerVersion: version})
	must.Do(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestBackupBefore5NeedsAStoreThatNobodyHasOpen(t *testing.T) {
	c, at := serverOf(t, "4.4"), database(t)
	db := open(t, c, at)
	other := open(t, c, at)
	_, err := archive.Backup(t.Context(), db, filepath.Join(t.TempDir(), "b"), "test")
	expect.That(t, fault.Of(err) == fault.Conflict && strings.Contains(fault.Text(err), "too old"), "%v", err)
	must.Do(t, other.Close())
	expect.NoError(t, must.Err(archive.Backup(t.Context(), db, filepath.Join(t.TempDir(), "b"), "test")), "Backup")
}
