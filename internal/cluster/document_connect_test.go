package cluster_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/must"
)

// Every address that docs/connect.md shows is one that shardboard takes. AWS, OIDC and SRV need a
// network and are parsed only.
func TestAddressesOfTheConnectPageAreValid(t *testing.T) {
	page, err := os.ReadFile("../../docs/connect.md")
	must.Do(t, err)
	p := newPKI(t)
	cert, key := p.issue("board")
	p.file("ca.pem", p.ca)
	p.file("board.pem", cert, key)
	p.file("board.crt", cert)
	p.file("board.key", key)
	seen := 0
	for _, m := range regexp.MustCompile("`(mongodb(?:\\+srv)?://[^`]+/[^`]*)`").FindAllStringSubmatch(string(page), -1) {
		seen++
		text := strings.ReplaceAll(m[1], "/etc/shardboard", p.dir)
		u, err := cluster.ParseURI(text)
		if err != nil {
			t.Errorf("%s: %v", m[1], err)
			continue
		}
		if u.HoldsSecret() != strings.Contains(text, "PASSWORD") {
			t.Errorf("%s: holds a secret: %t", m[1], u.HoldsSecret())
		}
		if strings.HasPrefix(text, "mongodb://") {
			for _, c := range options.Client().ApplyURI(text).Compressors {
				if !strings.Contains("zstd snappy zlib", c) {
					t.Errorf("%s: compressor %s", m[1], c)
				}
			}
		}
	}
	if seen < 12 {
		t.Errorf("%d addresses", seen)
	}
}
