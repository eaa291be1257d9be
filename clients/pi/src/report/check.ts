// Checks a report for its form before it is sent, all faults at once. What a report must *say* is the daemon's business;
// nothing is refused here that the daemon would take.
import { LIMITS } from "../wire.ts";

type Schema = {
  type?: string; enum?: readonly string[]; anyOf?: readonly Schema[]; items?: Schema; additionalProperties?: boolean;
  properties?: Record<string, Schema>; required?: readonly string[];
};

export type FormFault = { field: string; message: string };

/** The faults of `value` against the part of JSON Schema that our schema uses. */
export function faultsOf(value: unknown, schema: Schema, field = ""): FormFault[] {
  if (schema.anyOf) {
    const named = schema.anyOf.find((one) => one.type !== "null") ?? {};
    return value === null ? [] : faultsOf(value, named, field);
  }
  const at = field || "the report";
  const wrong = (message: string): FormFault[] => [{ field: at, message }];
  switch (schema.type) {
    case "string":
      if (typeof value !== "string") return wrong(`must be text, not ${kindOf(value)}`);
      if (schema.enum && !schema.enum.includes(value)) return wrong(`must be one of ${schema.enum.join(", ")}`);
      return [];
    case "boolean":
      return typeof value === "boolean" ? [] : wrong(`must be true or false, not ${kindOf(value)}`);
    case "array":
      if (!Array.isArray(value)) return wrong(`must be a list, not ${kindOf(value)}`);
      return value.flatMap((item, index) => faultsOf(item, schema.items ?? {}, `${field}[${index}]`));
    case "object":
      return faultsOfObject(value, schema, field);
    default:
      return [];
  }
}

function faultsOfObject(value: unknown, schema: Schema, field: string): FormFault[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [{ field: field || "the report", message: `must be an object, not ${kindOf(value)}` }];
  }
  const members = value as Record<string, unknown>;
  const known = schema.properties ?? {};
  const below = (name: string): string => (field ? `${field}.${name}` : name);
  const missing = (schema.required ?? []).filter((name) => members[name] === undefined);
  const given = Object.entries(members).filter(([, member]) => member !== undefined);
  return [
    ...missing.map((name) => ({ field: below(name), message: "is missing" })),
    ...given.flatMap(([name, member]) => {
      const inner = Object.hasOwn(known, name) ? known[name] : undefined;
      if (inner) return faultsOf(member, inner, below(name));
      return [{ field: below(name), message: `is not known here; the members are ${Object.keys(known).join(", ")}` }];
    }),
  ];
}

const kindOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `a ${typeof value}`;

/** The size of the report on the wire, if it is over the limit. */
export function oversize(report: unknown): number | undefined {
  const size = Buffer.byteLength(JSON.stringify(report) ?? "", "utf8");
  return size > LIMITS.report ? size : undefined;
}
