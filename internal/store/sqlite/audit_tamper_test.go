package sqlite

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

const swap = `UPDATE audit SET seq = CASE seq WHEN -11 THEN 12 ELSE 11 END WHERE seq IN (-11, -12)`

// Each attack changes the audit record of a running server with write access to the data
// directory, and has the finding of the next check, which runs within a minute.
var foundNextMinute = map[string]struct {
	tamper func(*tamperFixture)
	code   string
}{
	"last deleted":                     {func(a *tamperFixture) { a.runSQL(`DELETE FROM audit WHERE seq = 30`) }, audit.Cut},
	"last three deleted":               {func(a *tamperFixture) { a.runSQL(`DELETE FROM audit WHERE seq > 27`) }, audit.Cut},
	"all deleted":                      {func(a *tamperFixture) { a.runSQL(`DELETE FROM audit`) }, audit.Cut},
	"last deleted, then one written":   {func(a *tamperFixture) { a.runSQL(`DELETE FROM audit WHERE seq = 30`); a.append(1) }, audit.Misplaced},
	"all deleted, then one written":    {func(a *tamperFixture) { a.runSQL(`DELETE FROM audit`); a.append(1) }, audit.Misplaced},
	"written since the check, deleted": {func(a *tamperFixture) { a.append(2); a.runSQL(`DELETE FROM audit WHERE seq = 32`) }, audit.Cut},
	"the same, then two written": {
		func(a *tamperFixture) { a.append(2); a.runSQL(`DELETE FROM audit WHERE seq = 32`); a.append(2) },
		audit.Misplaced,
	},
	"last edited": {func(a *tamperFixture) {
		a.runSQL(`UPDATE audit SET entry = CAST(replace(CAST(entry AS TEXT), 'user:1', 'user:2') AS BLOB) WHERE seq = 30`)
	}, audit.Changed},
	"last made anew":                   {func(a *tamperFixture) { a.insertRecord(29, "REPLACE") }, audit.Rebuilt},
	"last made anew, then one written": {func(a *tamperFixture) { a.insertRecord(29, "REPLACE"); a.append(1) }, audit.Rebuilt},
	"written and made anew":            {func(a *tamperFixture) { a.append(1); a.insertRecord(30, "REPLACE") }, audit.Rebuilt},
	"put in at the end":                {func(a *tamperFixture) { a.insertRecord(30, "INSERT") }, audit.Foreign},
	"put in, then one written":         {func(a *tamperFixture) { a.insertRecord(30, "INSERT"); a.append(1) }, audit.Unlinked},
	"all made anew": {func(a *tamperFixture) {
		for i := range int64(attackedRecords) {
			a.insertRecord(i, "REPLACE")
		}
	}, audit.Rebuilt},
	"old edited": {func(a *tamperFixture) {
		a.runSQL(`UPDATE audit SET entry = CAST(replace(CAST(entry AS TEXT), 'user:1', 'user:2') AS BLOB) WHERE seq = 4`)
	}, audit.Changed},
	"old deleted":   {func(a *tamperFixture) { a.runSQL(`DELETE FROM audit WHERE seq = 4`) }, audit.Misplaced},
	"first deleted": {func(a *tamperFixture) { a.runSQL(`DELETE FROM audit WHERE seq = 1`) }, audit.Misplaced},
	"before the first": {
		func(a *tamperFixture) {
			a.runSQL(`INSERT INTO audit SELECT -5, entry, prev, hash FROM audit WHERE seq = 1`)
		},
		audit.Misplaced,
	},
	"two swapped": {func(a *tamperFixture) { a.runSQL(`UPDATE audit SET seq = -seq WHERE seq IN (11, 12)`, swap) }, audit.Unlinked},
	"inserts swallowed": {func(a *tamperFixture) {
		a.runSQL(`CREATE TRIGGER t BEFORE INSERT ON audit BEGIN SELECT RAISE(IGNORE); END`)
		a.append(1)
	}, audit.Cut},
	"last moved":            {func(a *tamperFixture) { a.runSQL(`UPDATE audit SET seq = 40 WHERE seq = 30`) }, audit.Misplaced},
	"newest head deleted":   {func(a *tamperFixture) { a.runSQL(`DELETE FROM audit_heads WHERE seq = 30`) }, audit.HeadLost},
	"all heads deleted":     {func(a *tamperFixture) { a.runSQL(`DELETE FROM audit_heads`) }, audit.HeadLost},
	"head edited":           {func(a *tamperFixture) { a.runSQL(`UPDATE audit_heads SET at = at + 1`) }, audit.Forged},
	"head of another chain": {func(a *tamperFixture) { a.saveHead(99) }, audit.Cut},
	"witness forged": {func(a *tamperFixture) {
		a.editHead(func(h *store.AuditHead) { h.At = h.At.Add(time.Hour) })
	}, audit.Forged},
	"table dropped":  {func(a *tamperFixture) { a.runSQL(`DROP TABLE audit`) }, audit.Damaged},
	"table renamed":  {func(a *tamperFixture) { a.runSQL(`ALTER TABLE audit RENAME TO other`) }, audit.Damaged},
	"column dropped": {func(a *tamperFixture) { a.runSQL(`ALTER TABLE audit DROP COLUMN hash`) }, audit.Damaged},
	"table replaced by empty": {func(a *tamperFixture) {
		a.runSQL(`DROP TABLE audit`, `CREATE TABLE audit (seq INTEGER PRIMARY KEY, entry, prev, hash)`)
	}, audit.Cut},
	"heads' table dropped": {func(a *tamperFixture) { a.runSQL(`DROP TABLE audit_heads`) }, audit.Damaged},
	"file removed":         {func(a *tamperFixture) { _ = os.Remove(a.db.file.path) }, string(audit.StageRead)},
	"file replaced": {func(a *tamperFixture) {
		text, err := os.ReadFile(a.db.file.path)
		must.Do(a.t, err)
		a.write(a.db.file.path+".old", string(text))
		_ = os.Rename(a.db.file.path+".old", a.db.file.path)
	}, string(audit.StageRead)},
}

func TestTamperingWithARunningServersRecordIsFoundWithinAMinute(t *testing.T) {
	made := templateDatabase(t)
	for name, c := range foundNextMinute {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				a := openCopy(t, dir, made, attackKey(t))
				a.serve()
				defer a.stop()
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				if st := a.keeper.State(); st.Trouble() != nil || st.End.Seq != attackedRecords {
					t.Fatalf("before: %+v %v", st, st.Trouble())
				}
				c.tamper(a)
				time.Sleep(time.Minute)
				synctest.Wait()
				st := a.keeper.State()
				must.That(t, st.Trouble() != nil && st.Trouble().Code == c.code && st.Trouble().Text != "",
					"want %s: %+v, trouble %+v", c.code, st, st.Trouble())
				expect.Contains(t, a.log.String(), "level=ERROR", "the log does not report the finding: %v", &a.log)
				signed := st.Head.Seq
				time.Sleep(3 * time.Minute)
				synctest.Wait()
				if st := a.keeper.State(); st.Trouble() == nil || st.Head.Seq != signed {
					t.Errorf("the finding was cleared or the record was signed: %+v", st)
				}
			})
		})
	}
}
