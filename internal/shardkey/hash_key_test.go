package shardkey

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/fixture/must"
)

func TestHashKeyIsTheBoundOfItsHashAndReturnsIt(t *testing.T) {
	p := mustPattern("k#")
	check := func(h int64) {
		k := must.Get(p.Bound(mustDoc(bson.D{{Key: "k", Value: h}})))
		must.That(t, HashKey(h) == k, "HashKey(%d) is not the bound", h)
		if got, ok := k.HashFloor(); !ok || got != h {
			t.Fatalf("%d came back as %d, %v", h, got, ok)
		}
	}
	for _, h := range []int64{math.MinInt64, math.MinInt64 + 1, -256, -255, -1, 0, 1, 255, 256, math.MaxInt64} {
		check(h)
	}
	rapid.Check(t, func(rt *rapid.T) { check(drawLong(rt)) })
}

func TestHashFloorRefusesKeysThatAreNotHashes(t *testing.T) {
	p := mustPattern("k")
	if h, ok := p.Min().HashFloor(); !ok || h != math.MinInt64 {
		t.Errorf("MinKey: %d, %v, want ok true, h %v", h, ok, math.MinInt64)
	}
	for _, v := range []any{bson.MaxKey{}, nil, 0.5, -0.5, 1.5, math.Exp2(63), -math.Exp2(64), math.Exp2(70), math.NaN(), "", "abc", true,
		bson.ObjectID{}, bson.D{}, bson.Binary{Data: []byte{1}}} {
		k := must.Get(p.Bound(mustDoc(bson.D{{Key: "k", Value: v}})))
		if h, ok := k.HashFloor(); ok {
			t.Errorf("%v has the hash %d", v, h)
		}
	}
	if _, ok := (Key{}).HashFloor(); ok {
		t.Error("the zero key has a hash")
	}
}
