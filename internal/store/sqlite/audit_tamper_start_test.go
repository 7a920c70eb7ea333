package sqlite

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store/audit"
)

const (
	never     = ""           // not detectable on this machine alone
	notOpened = "not opened" // the data directory is refused
)

// Each attack changes the data of a stopped server and has the finding of the next start.
// killed is the number of records after the last signed head if the server was killed.
var foundNextStart = map[string]struct {
	killed int
	tamper func(*tamperFixture)
	code   string
}{
	"nothing":                   {0, func(*tamperFixture) {}, never},
	"killed":                    {3, func(*tamperFixture) {}, never},
	"last deleted":              {0, func(a *tamperFixture) { a.runSQL(`DELETE FROM audit WHERE seq = 30`) }, audit.Cut},
	"last and its head deleted": {0, func(a *tamperFixture) { a.runSQL(`DELETE FROM audit WHERE seq = 30`, `DELETE FROM audit_heads`) }, audit.Cut},
	"and the witness":           {0, func(a *tamperFixture) { a.runSQL(`DELETE FROM audit WHERE seq = 30`); a.removeWitness() }, audit.Cut},
	"old edited":                {0, func(a *tamperFixture) { a.runSQL(`UPDATE audit SET entry = x'00' WHERE seq = 4`) }, audit.Changed},
	"last made anew":            {0, func(a *tamperFixture) { a.insertRecord(29, "REPLACE"); a.runSQL(`DELETE FROM audit_heads`) }, audit.Rebuilt},
	"head edited":               {0, func(a *tamperFixture) { a.runSQL(`UPDATE audit_heads SET at = at + 1`) }, audit.Forged},
	"table dropped":             {0, func(a *tamperFixture) { a.runSQL(`DROP TABLE audit`) }, notOpened},
	"heads' table dropped":      {0, func(a *tamperFixture) { a.runSQL(`DROP TABLE audit_heads`) }, notOpened},
	"heads deleted": {
		0,
		func(a *tamperFixture) { a.runSQL(`DELETE FROM audit_heads`) },
		never,
	}, // the witness has the newest head, so nothing is lost
	"witness deleted": {0, func(a *tamperFixture) { a.removeWitness() }, never}, // the heads have the same; the log reports the missing file
	"witness put back": {0, func(a *tamperFixture) {
		text, err := os.ReadFile(string(a.witness))
		must.Do(a.t, err)
		a.serve()
		a.append(1)
		a.stop()
		a.write(string(a.witness), string(text))
	}, never}, // the heads in the data are newer; the log reports that
	"unsigned deleted":  {3, func(a *tamperFixture) { a.runSQL(`DELETE FROM audit WHERE seq > 31`) }, never},
	"put in at the end": {0, func(a *tamperFixture) { a.insertRecord(30, "INSERT") }, never},
	"cut, no heads, no witness": {
		0,
		func(a *tamperFixture) {
			a.runSQL(`DELETE FROM audit WHERE seq > 20`, `DELETE FROM audit_heads`)
			a.removeWitness()
		},
		never,
	},
	"signed with another key": {0, func(a *tamperFixture) { _, a.key, _ = ed25519.GenerateKey(nil) }, never}, // reported as "another key"
}

func (a *tamperFixture) removeWitness() { _ = os.Remove(string(a.witness)) }

// Cases that are not detectable here are detected with a head that is stored elsewhere
// (`audit verify --head`), or not at all if no head was signed yet.
func TestTamperingWithAStoppedServersRecordIsFoundAtTheNextStart(t *testing.T) {
	made := templateDatabase(t)
	for name, c := range foundNextStart {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				a := openCopy(t, dir, made, attackKey(t))
				a.serve()
				a.stop()
				a.append(c.killed)
				first := a.key
				c.tamper(a)
				must.Do(t, a.db.Close())
				if c.code == notOpened {
					if db, err := Open(t.Context(), filepath.Join(dir, "data")); err == nil || !strings.Contains(fault.Text(err), "is missing") {
						t.Errorf("the directory was opened: %v, %v", db, err)
					}
					return
				}
				b := openCopy(t, dir, made, a.key)
				b.serve()
				defer b.stop()
				st := b.keeper.State()
				switch trouble := st.Trouble(); {
				case c.code == never && trouble != nil, c.code != never && (trouble == nil || trouble.Code != c.code):
					t.Errorf("expected %q, found %+v %+v", c.code, st, trouble)
				}
				if said := strings.Contains(b.log.String(), "is missing or older"); said != strings.HasPrefix(name, "witness ") {
					t.Errorf("the log reports a missing witness: %v, log: %s", said, &b.log)
				}
				expect.Equal(t, st.Other != "", !first.Equal(a.key), "another key")
			})
		})
	}
}

// A running server writes a removed witness file again and logs that.
func TestAWitnessRemovedWhileTheServerRunsIsWrittenAgain(t *testing.T) {
	made, dir := templateDatabase(t), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a := openCopy(t, dir, made, attackKey(t))
		a.serve()
		defer a.stop()
		first, err := os.ReadFile(string(a.witness))
		must.Do(t, err)
		a.removeWitness()
		time.Sleep(time.Minute)
		synctest.Wait()
		if again, err := os.ReadFile(string(a.witness)); err != nil || string(again) != string(first) {
			t.Errorf("unexpected witness %s, error %v", again, err)
		}
		if st := a.keeper.State(); st.Trouble() != nil || strings.Count(a.log.String(), "removed or changed by somebody else") != 1 {
			t.Errorf("unexpected state %+v, log %s", st, &a.log)
		}
		a.write(string(a.witness), "{")
		time.Sleep(time.Minute)
		synctest.Wait()
		if st := a.keeper.State(); st.Trouble() != nil || st.Err == nil {
			t.Errorf("after one check: %+v", st)
		}
		a.append(1)
		time.Sleep(time.Minute)
		synctest.Wait()
		if st := a.keeper.State(); st.Trouble() == nil || st.Trouble().Code != string(audit.StageWitness) || st.End.Seq != 31 {
			t.Errorf("after two checks: %+v", st)
		}
		if text, err := os.ReadFile(string(a.witness)); string(text) != "{" {
			t.Error("the witness that shows the damage was replaced:", string(text), err)
		}
		a.removeWitness() // as the message advises
		time.Sleep(time.Minute)
		synctest.Wait()
		if st := a.keeper.State(); st.Trouble() != nil || st.Head.Seq != 31 {
			t.Errorf("after the witness was moved away: %+v", st)
		}
	})
}

// A renamed table that returns is verified from its first record before anything is
// reported as verified or signed.
func TestARestoredAuditTableIsVerifiedFromItsFirstRecord(t *testing.T) {
	made := templateDatabase(t)
	for name, tamper := range map[string]string{"as it was": ``, "shorter": `DELETE FROM other WHERE seq > 25`, "edited": `UPDATE other SET entry = x'00' WHERE seq = 3`} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			a := openCopy(t, dir, made, attackKey(t))
			a.serve()
			defer a.stop()
			a.runSQL(`ALTER TABLE audit RENAME TO other`)
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			if st := a.keeper.State(); st.Trouble() == nil || st.Trouble().Code != audit.Damaged ||
				!strings.Contains(st.Trouble().Text, "The table audit is missing in ") {
				t.Fatalf("%s: unexpected state: %+v", name, st)
			}
			if n := strings.Count(a.log.String(), "level=ERROR"); n != 1 {
				t.Errorf("%s: %d errors in the log", name, n)
			}
			a.runSQL(tamper, `ALTER TABLE other RENAME TO audit`)
			time.Sleep(time.Minute)
			synctest.Wait()
			if st := a.keeper.State(); (st.Trouble() == nil) != (tamper == "") || st.Err != nil {
				t.Errorf("%s: unexpected state: %+v", name, st)
			}
		})
	}
}
