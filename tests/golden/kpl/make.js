// Prints what aws-kinesis-agg, the one for Node, makes of records.json; make.py runs it.
"use strict";
const fs = require("fs");
const path = require("path");
const { RecordAggregator } = require("aws-kinesis-agg");

const cases = JSON.parse(fs.readFileSync(path.join(__dirname, "records.json"), "utf8"));
const made = {};
for (const [name, records] of Object.entries(cases)) {
  const aggregator = new RecordAggregator();
  for (const { partitionKey, explicitHashKey, data } of records) {
    aggregator.addUserRecord({
      partitionKey,
      explicitHashKey: explicitHashKey ?? undefined,
      data: Buffer.from(data, "base64"),
    });
  }
  made[name] = aggregator.build().data.toString("base64");
}
console.log(JSON.stringify(made));
