package balancer

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// mergeEvery is the interval of the AutoMerger of 7.0 (autoMergerIntervalSecs).
const mergeEvery = time.Hour

// autoMerge runs the AutoMerger when it is due. It merges nothing while the balancer is
// off or outside of its window. The caller holds Mu.
func (b *Balancer) autoMerge() {
	now := b.cluster.Now()
	if b.merged.IsZero() {
		b.merged = now // a new primary waits for one interval first
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

// timedRound has the details of balancer.round since 7.0: errorOccurred is spelled
// correctly, and durations are added.
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
