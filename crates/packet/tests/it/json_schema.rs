//! A small judge of JSON Schemas: the keywords that ours uses, by the text of the dialect 2020-12. An unknown one is an
//! error, so that nothing is skipped silently.

use regex_lite::Regex;
use serde_json::Value;

/// Whether `value` fits `schema`, which may refer to the definitions of `root`.
pub(crate) fn fits(root: &Value, schema: &Value, value: &Value) -> bool {
    let Some(keywords) = schema.as_object() else { return schema != &Value::Bool(false) };
    keywords.iter().all(|(keyword, argument)| fits_keyword(root, schema, keyword, argument, value))
}

fn fits_keyword(root: &Value, schema: &Value, keyword: &str, argument: &Value, value: &Value) -> bool {
    let fits = |schema: &Value, value: &Value| fits(root, schema, value);
    match keyword {
        "$schema" | "title" | "description" | "default" | "$defs" | "minContains" | "maxContains" => true,
        "$ref" => fits(root.pointer(argument.as_str().unwrap().strip_prefix('#').unwrap()).unwrap(), value),
        "allOf" => argument.as_array().unwrap().iter().all(|schema| fits(schema, value)),
        "anyOf" => argument.as_array().unwrap().iter().any(|schema| fits(schema, value)),
        "not" => !fits(argument, value),
        "const" => value == argument,
        "enum" => argument.as_array().unwrap().contains(value),
        "type" => match argument {
            Value::Array(types) => types.iter().any(|name| is_a(name, value)),
            name => is_a(name, value),
        },
        "minimum" => value.as_f64().is_none_or(|number| number >= argument.as_f64().unwrap()),
        "maximum" => match (value.as_u64(), argument.as_u64()) {
            (Some(value), Some(maximum)) => value <= maximum,
            _ => value.as_f64().is_none_or(|number| number <= argument.as_f64().unwrap()),
        },
        "maxLength" => value.as_str().is_none_or(|text| text.chars().count() <= size(argument)),
        "pattern" => value.as_str().is_none_or(|text| Regex::new(argument.as_str().unwrap()).unwrap().is_match(text)),
        "maxItems" => value.as_array().is_none_or(|items| items.len() <= size(argument)),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| fits(argument, item))),
        "contains" => value.as_array().is_none_or(|items| {
            let count = items.iter().filter(|item| fits(argument, item)).count();
            (size(&schema["minContains"])..=size(&schema["maxContains"])).contains(&count)
        }),
        "required" => {
            let keys = argument.as_array().unwrap().iter().map(|key| key.as_str().unwrap());
            value.as_object().is_none_or(|object| keys.into_iter().all(|key| object.contains_key(key)))
        }
        "properties" => value.as_object().is_none_or(|object| {
            let properties = argument.as_object().unwrap();
            object.iter().all(|(key, member)| properties.get(key).is_none_or(|schema| fits(schema, member)))
        }),
        "additionalProperties" => {
            assert_eq!(argument, &Value::Bool(false));
            value.as_object().is_none_or(|object| object.keys().all(|key| schema["properties"].get(key).is_some()))
        }
        unknown => panic!("{unknown} is not known here"),
    }
}

fn size(argument: &Value) -> usize {
    usize::try_from(argument.as_u64().unwrap()).unwrap()
}

fn is_a(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "string" => value.is_string(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        // A number with a fraction of zero is an integer to a schema.
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        unknown => panic!("no type {unknown}"),
    }
}
