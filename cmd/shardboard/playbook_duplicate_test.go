package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/api"
)

// meetsDuplicate is the case of the playbook: a row of documents on shard-rs-1 has the _id of a stray one on
// shard-rs-3, the move of its chunk there has failed, and the check for duplicate ids has found out why.
func (r *playbookReader) meetsDuplicate(t *testing.T, cluster string) {
	t.Helper()
	const ns = "yorkie-meta.documents"
	documents := documentsOf(t, cluster)
	here := rowsOn(t, documents, "shard-rs-1")[0]
	stray := bson.D{{Key: "_id", Value: here.id}, {Key: "project_id", Value: rowsOn(t, documents, "shard-rs-3")[0].project},
		{Key: "key", Value: "imported"}}
	if _, err := documents.InsertOne(t.Context(), stray); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NS", ns)
	t.Setenv("ID", here.id.Hex())
	t.Setenv("CHUNK", here.chunk)

	move := []string{"plan", "move", "--ns", ns, "--chunk", here.chunk, "--to", "shard-rs-3", "--reason", "the disk is full"}
	var first api.Plan
	if _, out, errs := shardboard(t, append(move, "--json")...); json.Unmarshal([]byte(out), &first) != nil {
		t.Fatal(out, errs)
	}
	code, out, errs := shardboard(t, "run", first.ID, "--wait", "--hash", first.Hash)
	if said := out + errs; code == 0 || !strings.Contains(said, "The recipient stopped copying") ||
		!strings.Contains(said, "/checks/duplicates") {
		t.Fatalf("the move with a duplicate: exit %d\n%s", code, said)
	}
	checkDuplicates(t)
	if code, out, _ := shardboard(t, move...); code != 4 || !strings.Contains(out, here.id.Hex()) {
		t.Errorf("a plan while the duplicate is known: exit %d\n%s", code, out)
	}

	deleted := false
	r.inMongosh = func(script string) {
		if !strings.Contains(script, ".documents.deleteOne(stray)") {
			t.Fatalf("it deletes something else:\n%s", script)
		}
		done, err := documents.DeleteOne(t.Context(), stray[:2])
		if err != nil || done.DeletedCount != 1 {
			t.Fatal(done, err)
		}
		checkDuplicates(t)
		deleted = true
	}
	r.sees = func(line, out string) {
		if line == "shardboard get duplicates" && !strings.Contains(out, here.id.Hex()) {
			t.Errorf("%s does not show %s:\n%s", line, here.id.Hex(), out)
		}
		if strings.HasPrefix(line, "shardboard locate ") && (!strings.Contains(out, "shard-rs-1") || !strings.Contains(out, "shard-rs-3")) {
			t.Errorf("%s does not show both rows:\n%s", line, out)
		}
	}
	r.ends = func() {
		var moved []string
		for _, row := range rowsOn(t, documents, "shard-rs-3") {
			if row.id == here.id {
				moved = append(moved, row.project.Hex())
			}
		}
		if !deleted || len(moved) != 1 || moved[0] != here.project.Hex() {
			t.Errorf("deleted %v; rows with the id on the other shard at the end: %v", deleted, moved)
		}
	}
}

// checkDuplicates runs the check for duplicate ids, as the button of its page does, to its end.
func checkDuplicates(t *testing.T) {
	t.Helper()
	res, err := http.Post(os.Getenv("SHARDBOARD_SERVER")+"/api/v1/checks/duplicates", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusAccepted {
		t.Fatal(res.Status)
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if answerOf[api.DuplicateCheck](t, "get", "duplicates").State == "done" {
			return
		}
	}
	t.Fatal("the check has not ended")
}

func documentsOf(t *testing.T, cluster string) *mongo.Collection {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(cluster))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client.Database("yorkie-meta").Collection("documents")
}

// placedRow is a row of documents and the chunk that it is in.
type placedRow struct {
	id, project bson.ObjectID
	chunk       string
}

// rowsOn are the rows whose chunk is on a shard.
func rowsOn(t *testing.T, documents *mongo.Collection, shard string) (out []placedRow) {
	t.Helper()
	cur, err := documents.Find(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		ID      bson.ObjectID `bson:"_id"`
		Project bson.ObjectID `bson:"project_id"`
	}
	if err := cur.All(t.Context(), &rows); err != nil {
		t.Fatal(err)
	}
	for _, c := range answerOf[api.List[api.Chunk]](t, "get", "chunks", "yorkie-meta.documents", "--shard", shard).Items {
		from, to := boundary(t, c.Min), boundary(t, c.Max)
		for _, r := range rows {
			if p := r.Project.Hex(); from <= p && p < to {
				out = append(out, placedRow{r.ID, r.Project, c.Ref})
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("no row is on %s", shard)
	}
	return out
}

// boundary is a bound of documents as a text that compares as the bound does with ids in hexadecimal.
func boundary(t *testing.T, key api.Key) string {
	t.Helper()
	var bound struct {
		Project any `bson:"project_id"`
	}
	if err := bson.UnmarshalExtJSON(key, false, &bound); err != nil {
		t.Fatalf("%v in %s", err, key)
	}
	switch v := bound.Project.(type) {
	case bson.ObjectID:
		return v.Hex()
	case bson.MinKey:
		return ""
	}
	return "~" // MaxKey
}
