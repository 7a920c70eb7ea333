package locate

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/answer/locating"
	"shardboard/internal/api"
	"shardboard/web/guard"
	"shardboard/web/site"
)

var (
	ofChunk = []site.Param{site.ParamNS, site.ParamRef}
	paramIn = site.Query("in", "projects: search q as a document key in all projects; "+
		"collections: search q as an _id in all sharded collections")
	paramNear = site.Query("near", "1 takes the only project whose name differs in case or begins with q, and lists near names")
	// What of the metadata is checked.
	checkedMetadata = []site.Param{site.Query("db", "one database only"), site.Query("ns", "one collection only")}
)

// Routes of where something is and why. What asks the cluster, or shows the progress
// of a check, is made of more than the table and so has no ETag.
var Routes = site.Table(
	site.Page(site.Route{Pattern: "/locate", Summary: "Where is it? An address of this dashboard leads to its page",
		Policy: guard.PolicyLocate, Handler: Page, Status: []int{http.StatusOK, http.StatusSeeOther},
		Params: append(site.Takes[locating.LocateExtras](), site.Query("q", "project/key, project or id"), site.Query("ns", "namespace"),
			site.Query("key", "shard key in Extended JSON"), paramIn)}),
	site.Get(site.Route{Pattern: "/locate", Summary: "Which shard holds it?", Policy: guard.PolicyLocate, Handler: JSON,
		Params: append(site.Takes[locating.LocateExtras](),
			site.Query("q", "project/key, project, id, log reference, dashboard address or UUID; with ns a value of its shard key"),
			site.Query("ns", "namespace, with key"),
			site.Query("key", "shard key in Extended JSON, with ns"),
			paramNear,
			paramIn,
		),
		Answer: api.LocateAnswer{}, Types: []string{site.MediaJSON, site.MediaCSV}}),

	site.Page(site.Route{Pattern: "/locate/bulk", Summary: "Locate many lines", Policy: guard.PolicyLocate, Handler: LinesPage}),
	site.Form(site.Route{Pattern: "/locate/bulk", Summary: "Locate up to 1,000 lines, as a page or as CSV", Policy: guard.PolicyLocate,
		Handler: LinesForm,
		Types:   []string{site.MediaHTML, site.MediaCSV}, Status: []int{http.StatusOK}, MaxBody: answer.MaxLocate}),
	site.Post(site.Route{Pattern: "/locate", Summary: "Locate up to 1,000 lines", Policy: guard.PolicyLocate, Handler: LinesJSON,
		MaxBody: answer.MaxLocate,
		Body:    api.LocateRequest{}, Takes: []string{site.MediaText}, Answer: api.List[api.LocateLine]{},
		Types: []string{site.MediaJSON, site.MediaCSV}}),

	site.Page(site.Route{Pattern: "/collections/{ns}/chunks/{ref}", Summary: "Why is one chunk there, and why does it not move?",
		Params: ofChunk, Handler: ChunkPage,
		Tagged: true, Measured: true, Time: site.Past, Writes: true}),
	site.Asked(site.Route{Pattern: "/collections/{ns}/chunks/{ref}/why",
		Summary: "Why one chunk is where it is, and what the balancer makes of it", Params: ofChunk,
		Tagged: true, Measured: true, Time: site.Past}, whyChunk),
	site.Asked(site.Route{Pattern: "/collections/{ns}/chunks/{ref}/around",
		Summary: "A chunk's owners in the last day, its neighbours, its recent writes and whose keys it holds", Params: ofChunk,
		Time: site.Past, Writes: true}, chunkAround),
	site.Asked(site.Route{Pattern: "/projects/{id}/why", Summary: "Why a project's own chunks are where they are",
		Params: []site.Param{site.InPath("id", "a project's id, 24 hexadecimal digits")}, Tagged: true, Time: site.Past}, whyProject),

	site.Question[api.DuplicateCheck]{
		Route: site.Route{Pattern: "/checks/duplicates", Summary: "Ids on more than one shard"},
		Page:  DuplicatesPage, Ask: duplicates, For: "The check for ids on more than one shard",
	},
	site.Form(site.Route{Pattern: "/checks/duplicates", Summary: "Start, resume or stop that check; reads only",
		Policy: guard.PolicyOperate, Handler: DuplicatesForm}),
	site.Post(site.Route{Pattern: "/checks/duplicates", Summary: "Look for ids on more than one shard; reads only",
		Policy: guard.PolicyOperate,
		Body:   api.DuplicateStart{}, Answer: api.DuplicateCheck{}, Handler: StartDuplicatesJSON}),
	site.Post(site.Route{Pattern: "/checks/duplicates/stop", Summary: "Stop looking; it can be resumed", Policy: guard.PolicyOperate,
		Answer: api.DuplicateCheck{}, Handler: StopDuplicatesJSON}),

	site.Page(site.Route{Pattern: "/checks/metadata", Summary: "Does the metadata contradict itself?", Handler: MetadataPage,
		Params: checkedMetadata}),
	site.Change[api.MetadataCheckStart, api.MetadataCheck]{
		Route: site.Route{Pattern: "/checks/metadata", Summary: "Run checkMetadataConsistency for at most 45 s; reads only",
			Policy: guard.PolicyOperate, BodyOptional: true},
		For: "Run checkMetadataConsistency (MongoDB 7.0 and later) for at most 45 s; reads only",
		Do:  checkMetadata, Shown: showMetadataCheck, Refused: refuseMetadataCheck,
	},
)
