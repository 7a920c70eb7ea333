package balancer

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// mergeEvery is how often the AutoMerger of 7.0 looks for chunks to merge
// (autoMergerIntervalSecs).
const mergeEvery = time.Hour

// autoMerge lets the AutoMerger work when it is time. It is a part of the balancer:
// where that is off or outside of its window, nothing is merged. Mu is held.
func (b *Balancer) autoMerge() {
	now := b.cluster.Now()
	if b.merged.IsZero() {
		b.merged = now // a primary that has just begun waits for the first time
	}
	if now.Sub(b.merged) < time.Duration(float64(mergeEvery)*b.pace()) {
		return
	}
	b.merged = now
	b.cluster.AutoMerge()
}

func (b *Balancer) pace() float64 {
	if b.opts.Pace > 0 {
		return b.opts.Pace
	}
	return 1
}

// timedRound are the details of balancer.round since 7.0: errorOccurred is spelled
// right, and there is where the time went.
func timedRound(d bson.D, took int32, candidates, moved int, failed error) bson.D {
	d = append(d, bson.E{Key: "errorOccurred", Value: failed != nil})
	if failed != nil {
		return append(d, bson.E{Key: "errmsg", Value: failed.Error()})
	}
	return append(d,
		bson.E{Key: "candidateChunks", Value: int32(candidates)}, bson.E{Key: "chunksMoved", Value: int32(moved)},
		bson.E{Key: "imbalancedCachedCollections", Value: int32(0)},
		bson.E{Key: "times", Value: bson.D{
			{Key: "selectionTimeMillis", Value: int32(0)}, {Key: "throttleTimeMillis", Value: int32(0)},
			{Key: "migrationTimeMillis", Value: took},
		}})
}
