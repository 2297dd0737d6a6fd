; inherits: ecmascript, jsx
; Captures are explained in languages/__init__.py.

(field_definition property: (_) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
]) @method
(class_heritage [(identifier) (member_expression)] @inherits)
