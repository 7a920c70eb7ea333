package answer

import (
	"math"
	"strconv"
	"time"
)

// Map is a list made of another, item by item; never nil.
func Map[A, B any](list []A, to func(A) B) []B {
	out := make([]B, len(list))
	for i, x := range list {
		out[i] = to(x)
	}
	return out
}

// NotNil keeps empty lists lists on the wire.
func NotNil[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}

// TextOrNull is null for "".
func TextOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// DecimalOrNull is a number as text, because JavaScript's numbers are exact to 2^53 only.
func DecimalOrNull(n *int64) *string {
	if n == nil {
		return nil
	}
	s := strconv.FormatInt(*n, 10)
	return &s
}

// PositiveOrNull is null for what is not known.
func PositiveOrNull(n int64) *int64 {
	if n <= 0 {
		return nil
	}
	return &n
}

// TimeOrNull is null for a time that has not come.
func TimeOrNull(t time.Time) *time.Time {
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
