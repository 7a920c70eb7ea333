package sqlite

import (
	"context"
	"fmt"
	"testing"
	"time"

	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// BenchmarkCheckOfOldRecords measures the check that runs every minute, with 10,000
// records, which it reads completely, and with 100,000, of which it reads 10,000. It also
// measures the alternative of counting records, which would only show that some are
// missing.
func BenchmarkCheckOfOldRecords(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		db, err := Open(b.Context(), b.TempDir())
		must(b, err)
		a := &tamperFixture{t: b, db: db}
		a.append(n)
		b.Run(fmt.Sprintf("read/%d", n), func(b *testing.B) {
			for b.Loop() {
				step := 0
				rep, err := audit.Verify(func(yield func(store.AuditRecord, error) bool) {
					for r, err := range audit.Records(context.Background(), db, 0) {
						if step++; !yield(r, err) || step == 10_000 {
							return
						}
					}
				}, audit.Expect{})
				if err != nil || rep.Break != nil || rep.End.Seq != 10_000 {
					b.Fatal(rep, err)
				}
			}
		})
		b.Run(fmt.Sprintf("count/%d", n), func(b *testing.B) {
			for b.Loop() {
				var count int
				if err := db.read.QueryRow(`SELECT count(*) FROM audit`).Scan(&count); err != nil || count != n {
					b.Fatal(count, err)
				}
			}
		})
		b.Run(fmt.Sprintf("append/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := db.Append(b.Context(), store.AuditEntry{At: time.Now(), What: "login.ok", By: "user:1"}); err != nil {
					b.Fatal(err)
				}
			}
		})
		must(b, db.Close())
	}
}
