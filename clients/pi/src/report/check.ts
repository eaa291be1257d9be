// Checks a report for its form, all faults at once. What a report must *say* is the daemon's business.
import { LIMITS } from "../wire.ts";

type Schema = {
  type?: string; enum?: readonly string[]; anyOf?: readonly Schema[]; items?: Schema; additionalProperties?: boolean;
  properties?: Record<string, Schema>; required?: readonly string[];
};

/** `isTyped`: of a kind that the daemon refuses, too. It ignores members that it does not know. */
export type FormFault = { field: string; message: string; isTyped: boolean };

/**
 * The value with what models commonly get wrong put right: null for a member that may be left out, a number or a truth value
 * for a text, a text for a truth value.
 */
export function coerced(value: unknown, schema: Schema): unknown {
  if (schema.anyOf) return value === null ? null : coerced(value, schema.anyOf.find((one) => one.type !== "null") ?? {});
  if (schema.type === "string" && (typeof value === "number" || typeof value === "boolean")) return String(value);
  if (schema.type === "boolean" && (value === "true" || value === "false")) return value === "true";
  if (schema.type === "array" && Array.isArray(value)) return value.map((item) => coerced(item, schema.items ?? {}));
  if (schema.type !== "object" || typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const needed = (name: string, inner: Schema | undefined): boolean => inner?.anyOf !== undefined || (schema.required ?? []).includes(name);
  const members = Object.entries(value).flatMap(([name, member]): Array<[string, unknown]> => {
    const inner = known(schema, name);
    return member === null && inner && !needed(name, inner) ? [] : [[name, inner ? coerced(member, inner) : member]];
  });
  return Object.fromEntries(members);
}

const known = (schema: Schema, name: string): Schema | undefined =>
  Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : undefined;

/** The faults of `value` against the part of JSON Schema that our schema uses. */
export function faultsOf(value: unknown, schema: Schema, field = ""): FormFault[] {
  if (schema.anyOf) {
    const named = schema.anyOf.find((one) => one.type !== "null") ?? {};
    return value === null ? [] : faultsOf(value, named, field);
  }
  const at = field || "the report";
  const wrong = (message: string): FormFault[] => [{ field: at, message, isTyped: true }];
  switch (schema.type) {
    case "string":
      if (typeof value !== "string") return wrong(`must be text, not ${kindOf(value)}`);
      if (schema.enum && !schema.enum.includes(value)) {
        // Of a run in a report of ERROR the daemon takes any word.
        return [{ field: at, message: `must be one of ${schema.enum.join(", ")}`, isTyped: field === "status" }];
      }
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
    return [{ field: field || "the report", message: `must be an object, not ${kindOf(value)}`, isTyped: true }];
  }
  const members = value as Record<string, unknown>;
  const below = (name: string): string => (field ? `${field}.${name}` : name);
  const missing = (schema.required ?? []).filter((name) => members[name] === undefined);
  const given = Object.entries(members).filter(([, member]) => member !== undefined);
  return [
    ...missing.map((name) => ({ field: below(name), message: "is missing", isTyped: true })),
    ...given.flatMap(([name, member]) => {
      const inner = known(schema, name);
      if (inner) return faultsOf(member, inner, below(name));
      const names = Object.keys(schema.properties ?? {}).join(", ");
      return [{ field: below(name), message: `is not known here; the members are ${names}`, isTyped: false }];
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
