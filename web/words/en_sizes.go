package words

// sizes are the sentences about how many documents and bytes single chunks have.
var sizes = map[string]string{
	"method.changelog":        "Estimated from the migrations of the last quarter of an hour, as the changelog counts them",
	"method.dataSize":         "Read with dataSize, every document, copies that wait for deletion on other shards included",
	"method.dataSizeEstimate": "Estimated with dataSize: documents counted, times their average, copies that wait for deletion on other shards included",

	"reason.title.noDocuments":     "The chunk is empty.",
	"reason.title.tooManyMeasured": "Measuring is limited, so that it does not slow the cluster down.",
	"reason.title.changed":         "The chunk or its shard key changed while it was measured.",
	"reason.title.failed":          "The cluster’s answer was not understood; the log has it.",

	"size.fits":           "Yes. A moveChunk of the whole chunk is taken: {documents} documents, and the limit is {limit}.",
	"size.near.below":     "Probably. It has about {documents} documents, close to the limit of {limit}. Measure it exactly to be sure.",
	"size.near.above":     "Probably not. It has about {documents} documents, a little above the limit of {limit}. Measure it exactly to be sure.",
	"size.tooBig":         "No. It has {documents} documents, and the limit is {limit}. A moveChunk is refused with ChunkTooBig (153) and changes nothing. Split it first.",
	"size.tooBig.share":   "Probably not, by an estimate from the shard’s counts: about {documents} documents, and the limit is {limit}. Measure it to be sure.",
	"size.near.share":     "By an estimate from the shard’s counts it is close to the limit: about {documents} documents of {limit}. Measure it to be sure.",
	"size.fits.share":     "Probably, by an estimate from the shard’s counts: about {documents} documents, and the limit is {limit}.",
	"sizes.measured":      "{n} of {of} chunks are measured.",
	"sizes.measured.rest": "{n} of {of} chunks are measured; the others count with an estimate from their shard’s counts (“from counts”), which is the same for all of a shard.",
}
