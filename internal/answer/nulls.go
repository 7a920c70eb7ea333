package answer

import (
	"math"
	"strconv"
	"time"
)

// NotNil keeps empty lists lists on the wire.
func NotNil(in []string) []string {
	if in == nil {
		return []string{}
	}
	return in
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func decimal(n *int64) *string {
	if n == nil {
		return nil
	}
	s := strconv.FormatInt(*n, 10)
	return &s
}

// positive is null for what is not known.
func positive(n int64) *int64 {
	if n <= 0 {
		return nil
	}
	return &n
}

// instant is null for a time that has not come.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// ShareOf is null for a share that is not known.
func ShareOf(f float64) *float64 {
	if math.IsNaN(f) || f < 0 {
		return nil
	}
	return &f
}
