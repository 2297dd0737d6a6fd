; inherits: ecmascript, jsx
; Captures are explained in languages/__init__.py.

(field_definition property: (_) @name value: [
  (arrow_function) (function_expression) (parenthesized_expression)
]) @valued.field
(class_heritage [(identifier) (member_expression)] @inherits)
