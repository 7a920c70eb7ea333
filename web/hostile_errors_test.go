package web_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
	"shardboard/web/webtest"
)

// internals is what no answer to a failure may hold: Go's types and traces,
// paths of files, the driver's words and the cluster's inner addresses.
var internals = regexp.MustCompile(
	`goroutine \d+|\.go:\d+|\*?(errors|fault|bson|mongo|topology|placement|http|json|url|strconv|context)\.[A-Z]\w+|runtime error|panic|/usr/|/home/|/root/|0x[0-9a-f]{6,}|nil pointer|invalid character|cannot unmarshal|strconv\.|parse "|topology: |server selection|connection\(|dial tcp|mongodb://|inner\.example`,
)

func TestErrorPagesHideInternalErrors(t *testing.T) {
	s := webtest.New(t)
	causes := []func() error{
		func() error {
			return errors.New("connection(inner.example:27017[-5]) socket was unexpectedly closed: EOF")
		},
		func() error { return fmt.Errorf("read: %w", context.DeadlineExceeded) },
		func() error { return fmt.Errorf("%s", debug.Stack()) },
		func() error { return []error{}[len(s.Log.String())] }, // out of range
		func() error { var d *bson.ObjectID; _ = d.Hex(); return nil },
		func() error { panic(errors.New("dial tcp inner.example: mongodb://u:p@inner.example")) },
	}
	for i, cause := range causes {
		s.Locator.Answer = func(placement.Query) ([]placement.Item, error) { return nil, cause() }
		for _, address := range []string{"/locate?q=x", "/api/v1/locate?q=x"} {
			w := s.Do("GET", address)
			if w.Code < 500 || internals.MatchString(w.Body.String()) {
				t.Errorf("cause %d at %s: %d, %q", i, address, w.Code, internals.FindString(w.Body.String()))
			}
		}
	}
}
